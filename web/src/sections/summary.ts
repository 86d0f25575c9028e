// Who won, by how much, and why that is certain.
import { shapeOf } from '../chip';
import { stackedBar, type Part } from '../charts/stack';
import { h } from '../dom';
import { bytes, counted, grouped, percent, plural, seconds, significant, withUnit, words } from '../format';
import type { ChipDocument, ModelDocument, ReportDocument, SearchSummary } from '../schema';
import { palette } from '../theme';
import { figure, section, tiles, type Section } from './section';

function verdict(search: SearchSummary): HTMLElement {
  const total = search.evaluated + search.pruned + search.infeasible + search.open;
  if (search.score === null) {
    const why = search.open > 0 ? 'No chip has been evaluated yet.' : 'No chip of the space has a plan that fits.';
    return h('p', { class: 'verdict unproven' }, h('strong', {}, why));
  }
  if (search.optimal)
    return h(
      'p',
      { class: 'verdict proven' },
      h('strong', {}, 'Proven optimal.'),
      ` No other of the ${grouped(total)} chips of the space is better: each was evaluated, ruled out by a valid bound, or has no plan that fits.`,
    );
  const gap = search.gap === null ? 'by an unknown amount' : `by up to ${percent(search.gap, 2)}`;
  const open = search.open > 0 ? ` ${plural(search.open, 'chip')} ${search.open === 1 ? 'is' : 'are'} still open.` : '';
  return h('p', { class: 'verdict unproven' }, h('strong', {}, 'Not proven.'), ` A chip of the space may be better ${gap}.${open}`);
}

// How every chip of the space was dealt with.
function account(search: SearchSummary): HTMLElement {
  const parts: Part[] = [
    { label: 'evaluated', value: search.evaluated, text: grouped(search.evaluated), colour: () => palette().categories[1] ?? '' },
  ];
  Object.entries(search.pruned_by).forEach(([level, count], i) => {
    parts.push({ label: `pruned by ${words(level)}`, value: count, text: grouped(count), colour: () => palette().pruned[Math.min(i + 1, 4)] ?? '' });
  });
  parts.push({ label: 'infeasible', value: search.infeasible, text: grouped(search.infeasible), colour: () => palette().infeasible });
  parts.push({ label: 'open', value: search.open, text: grouped(search.open), colour: () => palette().open });
  return figure('What became of every chip', '', stackedBar('What became of every chip', parts));
}

function said(value: number | undefined, unit: string): string | null {
  return value ? `estimated; ${significant(value)} ${unit} published` : null;
}

function chipTiles(chip: ChipDocument): { name: string; value: string; note?: string }[] {
  return [
    { name: 'Die area', value: withUnit(chip.area_um2, 'um2'), note: said(chip.published?.die_mm2, 'mm²') ?? `${chip.area_model} model` },
    { name: 'Thermal design power', value: withUnit(chip.tdp_w, 'watts'), note: said(chip.published?.tdp_w, 'W') ?? 'estimated' },
    { name: 'Peak', value: withUnit(chip.peak_flops, 'flops') },
    { name: 'HBM', value: bytes(chip.hbm_bytes), note: withUnit(chip.hbm_bandwidth, 'bytes/s') },
  ];
}

function planTiles(model: ModelDocument): { name: string; value: string; note?: string }[] {
  const plan = model.plan;
  if (!plan || !plan.feasible) return [];
  return [
    { name: 'Throughput', value: withUnit(plan.throughput, 'samples/s'), note: `${counted(plan.tokens_per_s)} tokens/s` },
    { name: 'Time per batch', value: seconds(plan.time_per_batch), note: `${seconds(plan.simulated_time_per_batch)} simulated` },
    { name: 'Model FLOP utilisation', value: percent(plan.mfu), note: 'of the peak of all devices' },
  ];
}

function chipTable(chip: ChipDocument): HTMLElement {
  const { tensor_cores: tensor, vector_cores: vector } = chip;
  const entry = (name: string, value: string, note: string): HTMLElement =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value, h('small', {}, note)));
  return h(
    'dl',
    { class: 'anatomy' },
    entry('Tensor cores', `${grouped(tensor.count)}`, `of ${tensor.rows} × ${tensor.cols} MACs`),
    entry('Vector cores', `${grouped(vector.count)}`, `of ${vector.lanes} lanes`),
    entry('Global buffer', bytes(chip.glb_bytes), 'on chip'),
    entry('Clock', withUnit(chip.clock_hz, 'hz'), `${chip.process_nm} nm process`),
  );
}

export function summary(report: ReportDocument): Section {
  const { search, chip, models } = report;
  const first = models[0];
  const entries = [];
  if (search && search.score !== null && models.length !== 1)
    entries.push({ name: search.score_label, value: withUnit(search.score, search.score_unit), note: search.objective });
  if (models.length === 1 && first) entries.push(...planTiles(first));
  if (chip) entries.push(...chipTiles(chip));
  const heading = chip ? (search ? `The best chip: ${shapeOf(chip)}` : `${chip.name}: ${shapeOf(chip)}`) : report.title;
  const infeasible = models.filter((model) => model.plan && !model.plan.feasible);
  return section(
    'summary',
    'Summary',
    heading,
    '',
    search ? verdict(search) : null,
    ...infeasible.map((model) => h('p', { class: 'verdict unproven' }, h('strong', {}, `${model.name} has no plan. `), model.plan?.reason ?? '')),
    entries.length > 0 ? tiles(entries) : null,
    chip ? chipTable(chip) : null,
    search ? account(search) : null,
  );
}
