// Where the report comes from, so that it can be made again.
import { h } from '../dom';
import { seconds } from '../format';
import type { ReportDocument } from '../schema';
import { facts, figure, section, type Section } from './section';

export function about(report: ReportDocument): Section {
  const rows: [string, string][] = [['Made by', `phaze ${report.phaze_version}`]];
  if (report.created !== '') rows.push([report.kind === 'search' ? 'Search begun' : 'Made', report.created]);
  if (report.search) rows.push(['Search took', seconds(report.search.seconds)]);
  return section(
    'about',
    'About',
    'About this report',
    '',
    figure('Command', '', h('pre', { tabindex: '0', 'aria-label': 'Command line' }, report.command)),
    figure('Origin', '', facts(rows)),
    report.settings.length > 0 ? h('details', {}, h('summary', {}, 'Settings and inputs'), facts(report.settings)) : null,
    h('p', { class: 'note' }, 'This file holds everything it shows and asks nothing of the network. Charts are drawn with Apache ECharts (Apache License 2.0), which includes zrender (BSD 3-Clause).'),
  );
}
