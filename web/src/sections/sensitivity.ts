// Why this chip: what its neighbours would give, how busy it is, and what binds its layers.
import { h, table } from '../dom';
import { grouped, percent, seconds, sentence, withUnit, words } from '../format';
import type { InsightDocument, SearchSummary } from '../schema';
import { onTheme, palette } from '../theme';
import { figure, section, type Section } from './section';

// A bar to the left or to the right of the middle.
function change(ratio: number, widest: number): HTMLElement {
  const fill = h('span');
  const length = Math.min(Math.abs(ratio - 1) / widest, 1) * 50;
  fill.style.width = `${Math.max(length, 0.6)}%`;
  fill.style.left = ratio < 1 ? `${50 - length}%` : '50%';
  const paint = (): void => void (fill.style.backgroundColor = (ratio < 1 ? palette().categories[1] : palette().categories[2]) ?? '');
  paint();
  onTheme(paint);
  const sign = ratio > 1 ? '+' : ratio < 1 ? '−' : '±';
  return h('span', { class: 'change' }, h('span', { class: 'rail', 'aria-hidden': 'true' }, fill), h('b', {}, sign + percent(Math.abs(ratio - 1))));
}

function neighbours(insight: InsightDocument, search: SearchSummary | null): HTMLElement {
  const unit = search?.score_unit ?? 'score';
  const widest = Math.max(0.01, ...insight.sensitivity.map((n) => (n.ratio === null ? 0 : Math.abs(n.ratio - 1))));
  const rows = insight.sensitivity.map((n) => [
    sentence(words(n.parameter)),
    `${n.from} → ${n.to}`,
    n.ratio === null ? h('span', { class: 'muted' }, 'no plan fits') : change(n.ratio, widest),
    withUnit(n.score, unit),
    withUnit(n.area_um2, 'um2'),
    n.allowed ? '' : `outside the space: ${n.limit}`,
  ]);
  const columns = [{ label: 'Parameter' }, { label: 'Step' }, { label: 'Effect on the score' }, { label: 'Score', numeric: true }, { label: 'Area', numeric: true }, { label: 'Remark' }];
  return figure('What its neighbours would give', '', table('Sensitivity of the score', columns, rows));
}

function meter(fraction: number): HTMLElement {
  const fill = h('span');
  fill.style.width = `${Math.min(100 * fraction, 100)}%`;
  return h('span', { class: 'compared' }, h('b', {}, percent(fraction, 0)), h('span', { class: 'inline-bar short', 'aria-hidden': 'true' }, fill));
}

function utilisation(insight: InsightDocument): HTMLElement {
  const rows = Object.entries(insight.models).map(([name, model]) => [name, meter(model.tensor_utilisation), meter(model.vector_utilisation)]);
  const columns = [{ label: 'Model' }, { label: 'Tensor cores', numeric: true }, { label: 'Vector cores', numeric: true }];
  return figure('How busy its cores are', 'Work at peak rates over the time of a whole batch, all devices together.', table('Utilisation of cores', columns, rows));
}

function binding(insight: InsightDocument): HTMLElement {
  const several = Object.keys(insight.models).length > 1;
  const rows = Object.entries(insight.models).flatMap(([name, model]) =>
    model.layers.map((pass) => [
      `${several ? `${name}: ` : ''}${pass.layer}${pass.repeat > 1 ? ` (× ${grouped(pass.repeat)})` : ''}`,
      pass.pass,
      seconds(pass.seconds),
      `${words(pass.bound_by)}, ${percent(pass.bound_share, 0)} of its time`,
      meter(pass.busy.tensor),
      meter(pass.busy.vector),
      meter(pass.busy.hbm),
      meter(pass.busy.network),
    ]),
  );
  const columns = [
    { label: 'Layer' },
    { label: 'Pass' },
    { label: 'Time', numeric: true },
    { label: 'Bound by' },
    ...['Tensor cores', 'Vector cores', 'HBM', 'Network'].map((label) => ({ label, numeric: true })),
  ];
  return figure('What binds each layer', 'Per microbatch; the last columns say how much of the time each resource is held.', table('What binds each layer', columns, rows));
}

export function sensitivity(insight: InsightDocument, search: SearchSummary | null): Section {
  return section(
    'sensitivity',
    'Sensitivity',
    'Why this chip',
    'One parameter of the best chip moved one step at a time, everything else kept, with the best plans for the changed chip.',
    insight.sensitivity.length > 0 ? neighbours(insight, search) : null,
    utilisation(insight),
    binding(insight),
  );
}
