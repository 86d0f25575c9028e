// What was gained over simpler ways to choose a chip and a plan.
import { h, table } from '../dom';
import { grouped, significant, times } from '../format';
import type { ComparedModel, ComparisonDocument, ComparisonSummary } from '../schema';
import { figure, section, type Section } from './section';

// The known chip stands in the summary by its name; keys say TPUv4 whatever it is.
const kMethods = [
  { key: 'tpuv4_expert', label: 'Expert plan on ' },
  { key: 'tpuv4_placement', label: 'Best plan on ' },
  { key: 'chip_only', label: 'Best chip, expert plan' },
  { key: 'bayesian', label: 'Bayesian chip search' },
  { key: 'cosearch', label: 'Co-search' },
];
const kReference = 'tpuv4_expert';

function bar(share: number): HTMLElement {
  const fill = h('span');
  fill.style.width = `${Math.max(100 * share, 0.5)}%`;
  return h('span', { class: 'inline-bar', 'aria-hidden': 'true' }, fill);
}

function cell(value: number | null, reference: number | null, most: number): HTMLElement {
  if (value === null) return h('span', { class: 'muted' }, 'no plan');
  return h(
    'span',
    { class: 'compared' },
    h('b', {}, value >= 1000 ? grouped(value) : significant(value)),
    reference ? h('small', {}, times(value / reference)) : null,
    bar(value / most),
  );
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

// One row per model; `of` picks the throughput of a method.
function rowsOf(models: [string, ComparedModel][], of: (model: ComparedModel, key: string) => number | null): (string | Node)[][] {
  return models.map(([name, model]) => {
    const values = kMethods.map(({ key }) => of(model, key));
    const most = Math.max(...values.map((value) => value ?? 0));
    const reference = of(model, kReference);
    return [name, ...values.map((value, i) => cell(value, kMethods[i]?.key === kReference ? null : reference, most))];
  });
}

function meansOf(means: Record<string, number | null> | undefined): (string | Node)[] {
  return ['Geometric mean', ...kMethods.map(({ key }) => h('b', {}, means?.[key] ? times(means[key] ?? 0) : key === kReference ? times(1) : '–'))];
}

export function comparison(document: ComparisonDocument): Section {
  const summary = (document['summary'] ?? {}) as ComparisonSummary;
  const models = Object.entries(document).filter(([name]) => name !== 'summary') as [string, ComparedModel][];
  const known = summary.reference ?? 'the known chip';
  const columns = [{ label: 'Model' }, ...kMethods.map(({ label }) => ({ label: label.endsWith(' ') ? label + known : label, numeric: true }))];
  const own = rowsOf(models, (model, key) => numberOf(model[key]));
  if (models.length > 1) own.push(meansOf(summary.geometric_mean_over_tpuv4_expert));
  const note = `Samples per second, and how many times the expert plan on ${known}. All under one cost model.`;
  const result = section(
    'comparison',
    'Comparison',
    'Against other ways to choose',
    '',
    figure(models.length > 1 ? 'Each model with a chip of its own' : 'Throughput', note, table('Throughput against baselines', columns, own)),
  );
  if (models.some(([, model]) => model.common_chip)) {
    const shared = rowsOf(models, (model, key) => numberOf(model.common_chip?.[key] ?? (key.startsWith('tpuv4') ? model[key] : null)));
    shared.push(meansOf({ ...summary.geometric_mean_over_tpuv4_expert, ...summary.common_chip_over_tpuv4_expert }));
    result.element.append(figure('All models on one common chip', '', table('Throughput on a common chip against baselines', columns, shared)));
  }
  return result;
}
