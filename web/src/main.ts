import './style.css';
import { chipsOf } from './columns';
import { h } from './dom';
import { kFormat, type ReportDocument } from './schema';
import { about } from './sections/about';
import { comparison } from './sections/comparison';
import { designSpace } from './sections/space';
import { floorPlan } from './sections/floorplan';
import { modelPlans } from './sections/models';
import { parameterViews } from './sections/parameters';
import type { Section } from './sections/section';
import { sensitivity } from './sections/sensitivity';
import { summary } from './sections/summary';
import { currentMode, followSystem, onTheme, setMode } from './theme';

function read(): ReportDocument | string {
  const text = document.getElementById('report-data')?.textContent ?? '';
  try {
    const report = JSON.parse(text) as ReportDocument;
    return report.format === kFormat ? report : `This page shows documents of format ${kFormat}; it was given ${String(report.format)}.`;
  } catch {
    return 'The data of this report is missing or damaged.';
  }
}

function sectionsOf(report: ReportDocument): Section[] {
  const sections: Section[] = [summary(report)];
  if (report.space) {
    const chips = chipsOf(report.space);
    sections.push(designSpace(chips));
    const parameters = parameterViews(chips);
    if (parameters) sections.push(parameters);
  }
  if (report.chip) sections.push(floorPlan(report.chip));
  if (report.models.length > 0) sections.push(modelPlans(report));
  if (report.insight) sections.push(sensitivity(report.insight, report.search));
  if (report.comparison) sections.push(comparison(report.comparison));
  sections.push(about(report));
  return sections;
}

function themeButton(): HTMLElement {
  const button = h('button', { type: 'button', class: 'theme', click: () => setMode(currentMode() === 'light' ? 'dark' : 'light') });
  const name = (): void => {
    const next = currentMode() === 'light' ? 'dark' : 'light';
    button.textContent = next === 'dark' ? '◐ Dark' : '◑ Light';
    button.setAttribute('aria-label', `Switch to the ${next} theme`);
  };
  name();
  onTheme(name);
  return button;
}

function page(report: ReportDocument): HTMLElement[] {
  const sections = sectionsOf(report);
  const navigation = h('nav', { 'aria-label': 'Sections' });
  for (const { id, title } of sections) navigation.append(h('a', { href: `#${id}` }, title));
  document.title = `${report.title} · Phaze`;
  return [
    h('a', { class: 'skip', href: '#summary' }, 'To the content'),
    h('header', { class: 'bar' }, h('div', { class: 'inner' }, h('span', { class: 'mark' }, 'Phaze'), navigation, themeButton())),
    h('main', {}, h('div', { class: 'title' }, h('h1', {}, report.title), h('p', {}, report.subtitle)), ...sections.map(({ element }) => element)),
  ];
}

followSystem();
const app = document.getElementById('app');
const report = read();
if (app) app.replaceChildren(...(typeof report === 'string' ? [h('main', {}, h('h1', {}, 'No report'), h('p', {}, report))] : page(report)));
document.documentElement.dataset['ready'] = 'true';
performance.mark('phaze-ready');
