// How a model is spread over the devices: stages across, replicas down, tensor-parallel devices inside a cell.
import { stackedBar } from '../charts/stack';
import { axis, chart, kNarrow, tip, tooltip } from '../charts/chart';
import { h, svg, table } from '../dom';
import { bytes, grouped, percent, plural, seconds, sentence, significant, withUnit, words } from '../format';
import type { PlanDocument, StageDocument } from '../schema';
import { onRamp, onTheme, palette } from '../theme';
import { figure } from './section';

export function layersOf(stage: StageDocument): string {
  return stage.chunks.map(([from, to]) => (to - from === 1 ? `${from + 1}` : `${from + 1}–${to}`)).join(', ');
}

const loadOf = (stage: StageDocument): number => stage.forward_seconds + stage.backward_seconds + stage.recompute_seconds;

export function strategyWords(plan: PlanDocument): [string, string][] {
  const rows: [string, string][] = [
    ['Pipeline stages', grouped(plan.pipeline)],
    ['Data-parallel replicas', grouped(plan.data_parallel)],
    ['Tensor-parallel width', grouped(plan.tensor_parallel) + (plan.sequence_parallel ? ', sequence parallel' : '')],
    ['Microbatch', `${plural(plan.microbatch, 'sample')}, ${grouped(plan.microbatches)} per pipeline`],
    ['Devices in use', grouped(plan.devices)],
    ['ZeRO', plan.zero === 0 ? 'none' : `stage ${plan.zero}`],
  ];
  if (plan.interleave > 1) rows.push(['Interleaved chunks', `${grouped(plan.interleave)} per stage`]);
  return rows;
}

// Rows of replicas that are drawn: the first ones and the last, with a gap between them.
const kRows = 4;

export function planDiagram(plan: PlanDocument): HTMLElement {
  const stages = plan.stages.length;
  const replicas = plan.data_parallel;
  const drawn = replicas <= kRows + 1 ? Array.from({ length: replicas }, (_, i) => i) : [0, 1, 2, null, replicas - 1];
  const side = Math.max(28, Math.min(110, Math.floor(Math.min(1020, window.innerWidth - 130) / stages)));
  const left = 92;
  const top = 26;
  const rowHeight = 40;
  const width = left + stages * side + 4;
  const height = top + drawn.length * rowHeight + 44;
  const slowest = Math.max(...plan.stages.map(loadOf));
  const label = `${plural(stages, 'pipeline stage')} across, ${plural(replicas, 'replica')} down, ${plural(plan.tensor_parallel, 'tensor-parallel device')} in each cell`;
  const frame = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label, class: 'plan-diagram', 'data-chart': 'plan' });
  const draw = (): void => {
    frame.replaceChildren();
    const colours = palette();
    const write = (x: number, y: number, text: string, anchor: string, fill = colours.muted, kind = ''): void =>
      void frame.append(svg('text', { x, y, 'text-anchor': anchor, fill, class: kind }, text));
    const every = side < 40 ? 4 : 1;
    plan.stages.forEach((stage, s) => {
      const x = left + s * side;
      if (s % every === 0) write(x + side / 2, 14, String(s + 1), 'middle');
      drawn.forEach((replica, r) => {
        if (replica === null) return;
        const y = top + r * rowHeight;
        const load = loadOf(stage) / slowest;
        const title = svg(
          'title',
          {},
          `Stage ${s + 1}, replica ${replica + 1}: layers ${layersOf(stage)}; ${seconds(loadOf(stage))} per microbatch, ${percent(load, 0)} of the slowest stage; recompute ${stage.recompute}`,
        );
        const cell = svg('g', {}, title, svg('rect', { x: x + 2, y: y + 2, width: side - 4, height: rowHeight - 6, rx: 4, fill: onRamp(0.15 + 0.6 * load), stroke: colours.line }));
        // The devices of a tensor-parallel group, as many as can be told apart.
        const across = Math.min(plan.tensor_parallel, 8);
        const dot = Math.min(5, (side - 10) / across - 1.5);
        if (plan.tensor_parallel > 1 && dot >= 1.6)
          for (let d = 0; d < across; ++d)
            cell.append(
              svg('rect', {
                x: x + side / 2 + (d - across / 2) * (dot + 1.5) + 0.75,
                y: y + rowHeight - 6 - dot - 3,
                width: dot,
                height: dot,
                rx: 1,
                fill: colours.card,
                'fill-opacity': 0.85,
              }),
            );
        frame.append(cell);
      });
      const under = top + drawn.length * rowHeight;
      if (side >= 40) {
        write(x + side / 2, under + 14, layersOf(stage).length * 7 < side + 14 ? layersOf(stage) : plural(stage.layers.length, 'layer'), 'middle', colours.ink, 'small');
        if (stage.recompute !== 'none') write(x + side / 2, under + 30, stage.recompute, 'middle', colours.muted, 'small');
      }
    });
    drawn.forEach((replica, r) => {
      const y = top + r * rowHeight + rowHeight / 2 + 2;
      write(left - 10, y, replica === null ? '⋮' : `replica ${grouped(replica + 1)}`, 'end');
      if (replica === null) write(left + (stages * side) / 2, y, `⋮  ${plural(replicas - kRows, 'more replica')}`, 'middle');
    });
    write(left - 10, 14, 'stage', 'end');
    if (side >= 40) write(left - 10, top + drawn.length * rowHeight + 14, 'layers', 'end');
    if (side >= 40 && plan.stages.some((stage) => stage.recompute !== 'none')) write(left - 10, top + drawn.length * rowHeight + 30, 'recompute', 'end');
  };
  draw();
  onTheme(draw);
  return figure(
    'Stages and replicas',
    `${label}. The stronger the colour, the longer a stage takes per microbatch.`,
    h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Diagram of stages and replicas' }, frame),
  );
}

const kParts = ['parameters', 'gradients', 'optimizer', 'activations', 'workspace'] as const;

export function memoryChart(plan: PlanDocument, capacity: number | null): HTMLElement {
  const stages = plan.stages;
  const fullest = Math.max(...stages.map((stage) => stage.memory_bytes.total));
  const drawing = chart({
    name: 'memory',
    label: `Memory of each stage by kind: at most ${bytes(fullest)}${capacity ? ` of ${bytes(capacity)}` : ''}`,
    height: 320,
    renderer: 'svg',
    option: () => {
      const colours = palette();
      const narrow = drawing.element.clientWidth < kNarrow;
      return {
        grid: { left: 12, right: narrow ? 12 : 20, top: 36, bottom: 62, containLabel: true },
        legend: { bottom: 0, textStyle: { color: colours.muted }, itemWidth: 12, itemHeight: 12, data: kParts.map(sentence) },
        xAxis: axis({ type: 'category', data: stages.map((_, s) => String(s + 1)), name: 'Stage', nameLocation: 'middle', nameGap: 24, splitLine: { show: false } }),
        yAxis: axis({
          type: 'value',
          max: capacity && capacity < 4 * fullest ? Math.max(capacity, fullest) * 1.06 : undefined,
          axisLabel: { formatter: (value: number) => bytes(value), showMaxLabel: false },
          interval: niceBytes(Math.max(capacity && capacity < 4 * fullest ? capacity : 0, fullest)),
        }),
        tooltip: tooltip({
          trigger: 'axis',
          axisPointer: { type: 'shadow', shadowStyle: { color: colours.faint, opacity: 0.6 } },
          formatter: (found: { dataIndex: number }[]) => {
            const stage = stages[found[0]?.dataIndex ?? 0];
            if (!stage) return '';
            const rows: [string, string][] = kParts.map((part) => [sentence(part), bytes(stage.memory_bytes[part])]);
            rows.push(['Total', bytes(stage.memory_bytes.total)], ['Simulated peak', bytes(stage.simulated_peak_memory_bytes)]);
            return tip(`Stage ${(found[0]?.dataIndex ?? 0) + 1}, layers ${layersOf(stage)}`, rows);
          },
        }),
        series: kParts.map((part, i) => ({
          type: 'bar',
          name: sentence(part),
          stack: 'memory',
          barMaxWidth: 46,
          barCategoryGap: '18%',
          data: stages.map((stage) => stage.memory_bytes[part]),
          itemStyle: { color: colours.categories[[0, 4, 5, 1, 6][i] ?? 6], borderColor: colours.card, borderWidth: 0.5 },
          ...(i === 0 && capacity && capacity < 4 * fullest
            ? {
                markLine: {
                  silent: true,
                  symbol: 'none',
                  data: [{ yAxis: capacity }],
                  lineStyle: { color: colours.warm, type: 'dashed', width: 1.5 },
                  label: { formatter: `HBM ${bytes(capacity)}`, position: 'insideEndTop', color: colours.warm },
                },
              }
            : {}),
        })),
      };
    },
  });
  const note = capacity ? `The fullest stage holds ${bytes(fullest)}, ${percent(fullest / capacity)} of a device's ${bytes(capacity)}.` : `The fullest stage holds ${bytes(fullest)}.`;
  return figure('Memory of each stage', note, drawing.element);
}

function niceBytes(most: number): number {
  const raw = most / 5;
  return 2 ** Math.ceil(Math.log2(raw));
}

const kBreakdownColours: Record<string, number> = { compute: 0, recompute: 5, tensor_parallel: 2, bubble: 6, transfers: 3, gradient_sync: 1, optimizer: 4 };
const kBreakdownNames: Record<string, string> = {
  compute: 'forward and backward',
  recompute: 'recompute',
  tensor_parallel: 'tensor-parallel communication',
  bubble: 'pipeline bubble',
  transfers: 'pipeline transfers',
  gradient_sync: 'gradient synchronisation',
  optimizer: 'optimizer step',
};

export function timeBreakdown(plan: PlanDocument): HTMLElement {
  const parts = Object.entries(plan.breakdown).map(([key, value]) => ({
    label: kBreakdownNames[key] ?? words(key),
    value,
    text: seconds(value),
    colour: () => palette().categories[kBreakdownColours[key] ?? 6] ?? '',
  }));
  return figure(`Where the ${seconds(plan.time_per_batch)} per batch go`, '', stackedBar('Time per batch', parts));
}

export function runnersUp(plan: PlanDocument): HTMLElement | null {
  if (!plan.plans || plan.plans.length < 2) return null;
  const columns = ['Strategy', 'Time per batch', 'Over the best', 'Throughput', 'Peak memory'].map((label, i) => ({ label, numeric: i > 0 }));
  const rows = plan.plans.map((other) => [
    `${other.pipeline} stages × ${other.data_parallel} replicas × ${other.tensor_parallel} wide, microbatch ${other.microbatch}${other.interleave > 1 ? `, ${other.interleave} chunks` : ''}${other.zero > 0 ? `, ZeRO ${other.zero}` : ''}`,
    seconds(other.time_per_batch),
    `${significant(100 * (other.time_per_batch / plan.time_per_batch - 1), 2)} %`,
    withUnit(other.throughput, 'samples/s'),
    bytes(other.peak_memory_bytes),
  ]);
  return figure('Other strategies', '', table('Other strategies', columns, rows));
}
