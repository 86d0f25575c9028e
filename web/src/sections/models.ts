// Each model on the chip: its plan, memory, time, one iteration and the schedules of its layers.
import { gantt } from '../charts/gantt';
import { startAll } from '../charts/chart';
import { Timeline } from '../charts/timeline';
import { eventsOf } from '../columns';
import { h, segments, select } from '../dom';
import { counted, grouped, percent, plural, seconds, withUnit } from '../format';
import type { LayerSchedule, ModelDocument, ReportDocument, TimelineDocument } from '../schema';
import { memoryChart, planDiagram, runnersUp, strategyWords, timeBreakdown } from './plan';
import { facts, figure, section, tiles, type Section } from './section';

function timelineFigure(timeline: TimelineDocument | null): HTMLElement {
  if (!timeline) return figure('One iteration', 'The run holds no simulation of this plan.');
  const notes = [
    `The simulator's run of one pipeline, stage by stage: ${seconds(timeline.seconds)}, of which ${percent(timeline.bubble_fraction)} of the devices' time up to the last backward pass is idle. Numbers are microbatches.`,
  ];
  if (timeline.left_out)
    notes.push(`Microbatches ${grouped(timeline.left_out[0] + 1)} to ${grouped(timeline.left_out[1])} go on in the same way and are left out.`);
  notes.push('Drag to move, double-click or Ctrl + wheel to zoom; or focus the chart and use +, − and the arrow keys.');
  return figure('One iteration', notes.join(' '), new Timeline(timeline, eventsOf(timeline)).element);
}

function nameOf(schedule: LayerSchedule): string {
  const often = schedule.repeat > 1 ? ` (× ${grouped(schedule.repeat)})` : '';
  return `${schedule.layer}${often}, ${schedule.pass}`;
}

function scheduleFigure(schedules: LayerSchedule[] | null): HTMLElement {
  if (!schedules || schedules.length === 0) return figure('Layer schedules', 'The run holds no layer schedules of this plan.');
  const place = h('div');
  const show = (index: number): void => {
    const schedule = schedules[index];
    if (schedule) place.replaceChildren(gantt(schedule));
  };
  // The layer that is repeated most is what training consists of.
  const opening = schedules.reduce((best, schedule, i) => (schedule.repeat > (schedules[best]?.repeat ?? 0) ? i : best), 0);
  show(opening);
  const choices = schedules.map((schedule, i) => ({ value: String(i), label: nameOf(schedule) }));
  return figure(
    'Layer schedules',
    'When each operator of a layer runs on one chip, for one microbatch, and what it holds meanwhile.',
    h(
      'div',
      { class: 'controls' },
      select('Layer and pass', choices, String(opening), (value) => show(Number(value))),
    ),
    place,
  );
}

function panel(model: ModelDocument, capacity: number | null): HTMLElement {
  const element = h('div', { class: 'panel' });
  const { plan } = model;
  if (!plan) {
    element.append(h('p', { class: 'note' }, 'The run holds no plan for this model.'));
    return element;
  }
  if (!plan.feasible) {
    element.append(h('p', { class: 'verdict unproven' }, h('strong', {}, 'No plan fits. '), plan.reason ?? ''));
    return element;
  }
  element.append(
    tiles([
      { name: 'Throughput', value: withUnit(plan.throughput, 'samples/s'), note: `${counted(plan.tokens_per_s)} tokens/s` },
      { name: 'Time per batch', value: seconds(plan.time_per_batch), note: `${seconds(plan.simulated_time_per_batch)} simulated` },
      { name: 'Model FLOP utilisation', value: percent(plan.mfu) },
      { name: 'Batch', value: `${grouped(model.global_batch)} samples`, note: model.sequence > 0 ? `of ${grouped(model.sequence)} tokens` : '' },
    ]),
  );
  if (model.alone)
    element.append(
      h(
        'p',
        { class: 'note' },
        `Alone, this model would be best served by ${model.alone.chip} (${withUnit(model.alone.area_um2, 'um2')})` +
          (model.alone.throughput ? `: ${withUnit(model.alone.throughput, 'samples/s')}, so the common chip gives up ${percent(1 - plan.throughput / model.alone.throughput)}.` : '.'),
      ),
    );
  const others = runnersUp(plan);
  element.append(
    h('div', { class: 'two' }, figure('Strategy', '', facts(strategyWords(plan))), timeBreakdown(plan)),
    planDiagram(plan),
    memoryChart(plan, capacity),
    timelineFigure(model.timeline),
    scheduleFigure(model.layer_schedules),
  );
  if (others) element.append(others);
  return element;
}

export function modelPlans(report: ReportDocument): Section {
  const { models } = report;
  const capacity = report.chip?.hbm_bytes ?? null;
  const panels = models.map((model) => {
    const title = model.parameters > 0 ? `${model.name}, ${counted(model.parameters)} parameters` : model.name;
    return h('div', { class: 'model', hidden: true }, h('h3', { class: 'model-name' }, title));
  });
  const built = new Set<number>();
  const build = (i: number): void => {
    const model = models[i];
    if (!model || built.has(i)) return;
    built.add(i);
    panels[i]?.append(panel(model, capacity));
  };
  const show = (index: number): void => {
    build(index);
    panels.forEach((element, i) => (element.hidden = i !== index));
  };
  show(0);
  // Paper has no buttons: all models are printed.
  let before = 0;
  window.addEventListener('beforeprint', () => {
    before = Math.max(panels.findIndex((element) => !element.hidden), 0);
    models.forEach((_, i) => build(i));
    panels.forEach((element) => (element.hidden = false));
    startAll();
  });
  window.addEventListener('afterprint', () => show(before));
  const choices = models.map((model, i) => ({ value: String(i), label: model.name }));
  const pick = models.length === 1 ? null : models.length <= 10 ? segments('Model', choices, '0', (v) => show(Number(v))) : select('Model', choices, '0', (v) => show(Number(v)));
  const lead =
    models.length === 1
      ? `How ${models[0]?.name ?? 'the model'} is trained on ${plural(models[0]?.devices ?? 0, 'device')}, and where the time and the memory go.`
      : `How each of the ${plural(models.length, 'model')} is trained on ${plural(models[0]?.devices ?? 0, 'device')}.`;
  return section('plans', models.length === 1 ? 'Plan' : 'Plans', models.length === 1 ? `The plan for ${models[0]?.name ?? ''}` : 'The plans', lead, pick, ...panels);
}

