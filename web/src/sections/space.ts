// All chips of the space as points: any two properties against each other, coloured by a third.
//
// A point whose chip was evaluated stands at its score; one that was pruned stands at its bound, above which it cannot
// be. Points of one colour are one series in ECharts' large mode: tens of thousands are drawn and hit in milliseconds.
import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { axis, chart, kNarrow, tip, tooltip, type Chart } from '../charts/chart';
import { outcomeOf, rowsOf, shortName } from '../chip';
import type { Chips, Values } from '../columns';
import { h, segments, select, table, type TableColumn } from '../dom';
import { axisValue, grouped, named, numberOnly, plural, withUnit } from '../format';
import { paretoFront } from '../pareto';
import { onRamp, onTheme, palette } from '../theme';
import { facts, figure, section, type Section } from './section';

const kSteps = 9; // of a continuous colour
const kListed = 12; // chips in the table of a selection

interface Group {
  label: string;
  colour: () => string;
  size: number;
  chips: number[];
  large: boolean;
}

interface View {
  x: Values;
  y: Values;
  colour: string; // a column, or "outcome"
  mode: 'select' | 'zoom';
}

function outcomeGroups(chips: Chips): Group[] {
  let pruned = 0;
  const groups = chips.outcomes.map((outcome): Group => {
    const level = outcome.kind === 'pruned' ? ++pruned : 0;
    const colour = (): string => {
      const colours = palette();
      if (outcome.kind === 'evaluated') return colours.categories[1] ?? '';
      if (outcome.kind === 'pruned') return colours.pruned[Math.min(level, 4)] ?? '';
      return outcome.kind === 'open' ? colours.open : colours.infeasible;
    };
    return { label: outcome.label, colour, size: outcome.kind === 'evaluated' ? 6 : 4, chips: [], large: outcome.kind !== 'evaluated' };
  });
  for (let i = 0; i < chips.count; ++i) groups[chips.outcome[i] ?? 0]?.chips.push(i);
  // Evaluated chips are the few that matter: drawn last, on top.
  return groups.filter((group) => group.chips.length > 0).reverse();
}

// Sizes that double from value to value want a logarithmic axis. Scores and what they cost do not: what matters is how far the best are apart.
function isWide(values: Values, low: number, high: number): boolean {
  return low > 0 && high / low > 30 && !['best', 'score', 'bound', 'area_um2', 'tdp_watts'].includes(values.key);
}

function extent(at: ArrayLike<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < at.length; ++i) {
    const value = at[i] as number;
    if (Number.isNaN(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function continuousGroups(chips: Chips, column: Values): Group[] {
  const [low, high] = extent(column.at);
  const wide = isWide(column, low, high);
  const place = (value: number): number => {
    if (high <= low) return 1;
    return wide ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  const steps = column.distinct && column.distinct.length <= kSteps ? column.distinct.length : kSteps;
  const groups: Group[] = [];
  for (let step = 0; step < steps; ++step)
    groups.push({ label: '', colour: () => onRamp(steps > 1 ? step / (steps - 1) : 1), size: 4, chips: [], large: true });
  const ranges: [number, number][] = groups.map(() => [Infinity, -Infinity]);
  for (let i = 0; i < chips.count; ++i) {
    const value = column.at[i] as number;
    if (Number.isNaN(value)) continue;
    const step =
      steps === column.distinct?.length ? column.distinct.indexOf(value) : Math.min(Math.floor(place(value) * steps), steps - 1);
    groups[step]?.chips.push(i);
    const range = ranges[step];
    if (range) {
      range[0] = Math.min(range[0], value);
      range[1] = Math.max(range[1], value);
    }
  }
  groups.forEach((group, step) => {
    const [from, to] = ranges[step] ?? [0, 0];
    group.label = from === to ? withUnit(from, column.unit) : `${axisValue(from, column.unit)} – ${withUnit(to, column.unit)}`;
  });
  return groups.filter((group) => group.chips.length > 0);
}

class Explorer {
  readonly element: HTMLElement;
  private readonly chart: Chart;
  private readonly details = h('div', { class: 'details', 'aria-live': 'polite' });
  private readonly selection = h('div', { class: 'selection', 'aria-live': 'polite' });
  private readonly legend = h('ul', { class: 'legend' });
  private view: View;
  private groups: Group[] = [];
  private front: number[] = [];
  private chosen: number | null;
  private selected: number[] | null = null;

  constructor(private readonly chips: Chips) {
    const area = chips.get('area_um2') ?? chips.columns[0];
    this.view = { x: area ?? chips.best, y: chips.best, colour: 'outcome', mode: 'select' };
    this.chosen = chips.winner;
    this.chart = chart({
      name: 'space',
      label: 'Scatter of all chips of the design space. The table of chips below it lists the best of them.',
      height: 520,
      renderer: 'canvas',
      option: () => this.option(),
      ready: (instance) => this.listen(instance),
      drawn: (instance) => this.armBrush(instance),
    });
    this.chart.element.setAttribute('role', 'group');
    this.chart.element.tabIndex = 0;
    this.chart.element.addEventListener('keydown', (event) => this.key(event));
    this.regroup();
    onTheme(() => this.drawLegend());
    const choices = chips.columns.map((column) => ({ value: column.key, label: column.label }));
    const pick = (label: string, axisName: 'x' | 'y'): HTMLElement =>
      select(label, choices, this.view[axisName].key, (key) => {
        this.view[axisName] = chips.get(key) ?? this.view[axisName];
        this.selected = null;
        this.refresh();
      });
    const controls = h(
      'div',
      { class: 'controls' },
      pick('Horizontal', 'x'),
      pick('Vertical', 'y'),
      select('Colour', [{ value: 'outcome', label: 'Outcome of the search' }, ...choices], 'outcome', (key) => {
        this.view.colour = key;
        this.refresh();
      }),
      h(
        'div',
        { class: 'field' },
        h('span', { class: 'label' }, 'Dragging'),
        segments(
          'What dragging does',
          [
            { value: 'select', label: 'selects' },
            { value: 'zoom', label: 'zooms' },
          ],
          'select',
          (mode) => {
            this.view.mode = mode === 'zoom' ? 'zoom' : 'select';
            this.chart.redraw();
          },
        ),
      ),
    );
    this.element = h(
      'div',
      { class: 'explorer' },
      controls,
      this.chart.element,
      this.legend,
      h(
        'p',
        { class: 'note' },
        'Click a point for its details; drag to select many. With the keyboard: focus the chart, then ← and → walk along the Pareto front.',
      ),
      h('div', { class: 'beside' }, this.details, this.selection),
    );
    this.showDetails();
    this.showSelection();
  }

  private regroup(): void {
    const column = this.view.colour === 'outcome' ? undefined : this.chips.get(this.view.colour);
    this.groups = column ? continuousGroups(this.chips, column) : outcomeGroups(this.chips);
    // A bound is no achievement: only chips that were evaluated make the front, unless none was.
    const evaluated = (i: number): boolean => outcomeOf(this.chips, i).kind === 'evaluated';
    this.front = paretoFront(this.view.x.at, this.view.y.at, evaluated);
    this.drawLegend();
  }

  private refresh(): void {
    this.regroup();
    this.chart.redraw();
    this.showSelection();
  }

  private drawLegend(): void {
    this.legend.replaceChildren();
    const entry = (mark: HTMLElement, text: string): void => this.legend.append(h('li', {}, mark, text));
    for (const group of [...this.groups].reverse()) {
      const swatch = h('i', { class: 'swatch round' });
      swatch.style.backgroundColor = group.colour();
      entry(swatch, `${group.label} (${grouped(group.chips.length)})`);
    }
    if (this.front.length > 1) entry(h('i', { class: 'swatch front' }), `Pareto front of evaluated chips (${grouped(this.front.length)})`);
    if (this.chips.winner !== null) entry(h('i', { class: 'swatch winner' }), 'the best chip');
  }

  private point(i: number): [number, number, number] {
    return [this.view.x.at[i] as number, this.view.y.at[i] as number, i];
  }

  private option(): EChartsCoreOption {
    const colours = palette();
    const narrow = this.chart.element.clientWidth < kNarrow;
    const scale = (values: Values, horizontal: boolean): Record<string, unknown> => {
      const [low, high] = extent(values.at);
      const wide = isWide(values, low, high);
      return axis({
        type: wide ? 'log' : 'value',
        logBase: wide && values.distinct ? 2 : 10,
        scale: true,
        name: named(values.label, values.unit),
        nameLocation: horizontal ? 'middle' : 'end',
        nameGap: horizontal ? 32 : 14,
        nameTextStyle: horizontal ? {} : { align: 'left' },
        axisLabel: { formatter: (value: number) => axisValue(value, values.unit) },
        min: low > 0 && !wide && low < high * 0.5 ? 0 : undefined,
      });
    };
    const zooming = this.view.mode === 'zoom';
    const series: Record<string, unknown>[] = this.groups.map((group) => ({
      type: 'scatter',
      name: group.label,
      data: group.chips.map((i) => this.point(i)),
      dimensions: ['x', 'y', 'chip'],
      symbolSize: group.size,
      large: group.large,
      largeThreshold: 500,
      itemStyle: { color: group.colour(), opacity: group.large ? 0.85 : 1, borderWidth: 0 },
      z: group.large ? 2 : 3,
    }));
    series.push({
      type: 'line',
      name: 'Pareto front',
      data: this.front.map((i) => this.point(i)),
      step: 'end',
      symbol: 'circle',
      symbolSize: 5,
      lineStyle: { color: colours.ink, width: 1.5 },
      itemStyle: { color: colours.ink },
      z: 4,
    });
    const winner = this.chips.winner;
    if (winner !== null)
      series.push({
        type: 'scatter',
        name: 'the best chip',
        data: [this.point(winner)],
        symbol: 'diamond',
        symbolSize: 17,
        itemStyle: { color: colours.warm, borderColor: colours.card, borderWidth: 2 },
        z: 6,
      });
    if (this.chosen !== null && this.chosen !== winner)
      series.push({
        type: 'scatter',
        name: 'chosen',
        data: [this.point(this.chosen)],
        symbolSize: 15,
        itemStyle: { color: 'transparent', borderColor: colours.accent, borderWidth: 2.5 },
        z: 7,
        silent: true,
      });
    return {
      grid: { left: narrow ? 8 : 12, right: narrow ? 10 : 24, top: 40, bottom: 36, containLabel: true },
      xAxis: scale(this.view.x, true),
      yAxis: scale(this.view.y, false),
      tooltip: tooltip({
        trigger: 'item',
        formatter: (found: { data?: unknown }) => {
          const i = Array.isArray(found.data) ? (found.data[2] as number) : -1;
          if (i < 0) return '';
          const value = (values: Values): [string, string] => [values.label, withUnit(values.at[i], values.unit)];
          const outcome: [string, string] = ['Outcome', outcomeOf(this.chips, i).label];
          return tip(shortName(this.chips, i), [value(this.view.x), value(this.view.y), outcome]);
        },
      }),
      brush: zooming
        ? undefined
        : {
            toolbox: [],
            brushType: 'rect',
            xAxisIndex: 0,
            brushStyle: { color: `${colours.accent}22`, borderColor: colours.accent, borderWidth: 1 },
            throttleType: 'debounce',
            throttleDelay: 120,
            // The points keep their colours; what is selected is listed below.
            outOfBrush: { colorAlpha: 1 },
          },
      dataZoom: zooming
        ? [
            { type: 'inside', xAxisIndex: 0, filterMode: 'none' },
            { type: 'inside', yAxisIndex: 0, filterMode: 'none' },
          ]
        : [],
      series,
    };
  }

  private armBrush(instance: EChartsType): void {
    if (this.view.mode !== 'select') return;
    instance.dispatchAction({ type: 'takeGlobalCursor', key: 'brush', brushOption: { brushType: 'rect', brushMode: 'single' } });
  }

  private listen(instance: EChartsType): void {
    instance.on('click', (event) => {
      const data = (event as { data?: unknown }).data;
      if (Array.isArray(data)) this.choose(data[2] as number);
    });
    instance.on('brushEnd', (event) => {
      const area = (event as { areas?: { coordRange?: [number, number][] }[] }).areas?.[0];
      const range = area?.coordRange;
      if (!range || !range[0] || !range[1]) return;
      const [across, up] = range as [[number, number], [number, number]];
      const inside = (value: number, [low, high]: [number, number]): boolean => value >= low && value <= high;
      const found: number[] = [];
      for (let i = 0; i < this.chips.count; ++i)
        if (inside(this.view.x.at[i] as number, across) && inside(this.view.y.at[i] as number, up)) found.push(i);
      this.selected = found;
      this.showSelection();
    });
    // A click beside the rectangle takes it away.
    instance.on('brush', (event) => {
      const areas = (event as { areas?: unknown[] }).areas;
      if (areas?.length === 0 && this.selected) {
        this.selected = null;
        this.showSelection();
      }
    });
  }

  private key(event: KeyboardEvent): void {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0 || this.front.length === 0) return;
    event.preventDefault();
    const at = this.chosen === null ? -1 : this.front.indexOf(this.chosen);
    const next = at < 0 ? (step > 0 ? 0 : this.front.length - 1) : Math.min(Math.max(at + step, 0), this.front.length - 1);
    this.choose(this.front[next] ?? 0);
  }

  private choose(i: number): void {
    this.chosen = i;
    this.chart.redraw();
    this.showDetails();
  }

  private showDetails(): void {
    if (this.chosen === null) return this.details.replaceChildren();
    const best = this.chosen === this.chips.winner ? 'The best chip' : `Chip ${grouped(this.chosen)}`;
    this.details.replaceChildren(h('h3', {}, best), h('p', { class: 'shape' }, shortName(this.chips, this.chosen)), facts(rowsOf(this.chips, this.chosen)));
  }

  // Headings of the table, and what stands under each for a chip.
  private columnsOfTable(): [TableColumn[], ((i: number) => string)[]] {
    const { chips } = this;
    const at = (key: string, i: number): number => chips.get(key)?.at[i] ?? NaN;
    const entries: [string, (i: number) => string][] = [];
    if (chips.get('tensor_cores')) entries.push(['Tensor cores', (i) => `${grouped(at('tensor_cores', i))} × (${at('rows', i)} × ${at('cols', i)})`]);
    if (chips.get('vector_cores')) entries.push(['Vector cores', (i) => `${grouped(at('vector_cores', i))} × ${at('lanes', i)}`]);
    if (entries.length === 0) entries.push(['Chip', (i) => shortName(chips, i)]);
    const plain = (key: string, heading?: string): void => {
      const values = chips.get(key);
      if (values) entries.push([named(heading ?? values.label, values.unit), (i) => numberOnly(values.at[i], values.unit)]);
    };
    plain('global_buffer_bytes', 'Buffer');
    plain('best', chips.get('score')?.label ?? 'Score');
    plain('area_um2');
    plain('tdp_watts', 'TDP');
    entries.push(['Outcome', (i) => outcomeOf(chips, i).label]);
    return [entries.map(([label], i) => ({ label, numeric: i > 0 && i + 1 < entries.length })), entries.map(([, cell]) => cell)];
  }

  // The best of what is selected, or of everything.
  private showSelection(): void {
    const all = this.selected ?? Array.from({ length: this.chips.count }, (_, i) => i);
    const score = this.chips.best.at;
    const value = (i: number): number => (Number.isNaN(score[i]) ? -Infinity : (score[i] as number));
    const evaluated = (i: number): number => (outcomeOf(this.chips, i).kind === 'evaluated' ? 1 : 0);
    const listed = [...all].sort((a, b) => evaluated(b) - evaluated(a) || value(b) - value(a) || a - b).slice(0, kListed);
    const heading = this.selected ? `${plural(all.length, 'chip')} selected` : 'The best chips';
    const [columns, shape] = this.columnsOfTable();
    const rows = listed.map((i) => {
      const cells = shape.map((cell) => cell(i));
      const first = h('button', { type: 'button', class: 'link', click: () => this.choose(i) }, cells[0] ?? '');
      return [first, ...cells.slice(1)];
    });
    this.selection.replaceChildren(
      h('h3', {}, heading),
      listed.length > 0 ? table(heading, columns, rows) : h('p', { class: 'note' }, 'No chip lies in the rectangle.'),
    );
  }
}

export function designSpace(chips: Chips): Section {
  const explorer = new Explorer(chips);
  return section(
    'space',
    'Design space',
    `The design space: ${plural(chips.count, 'chip')}`,
    'Every chip of the space, where it stands and what became of it. An evaluated chip stands at what its best plan reaches; a pruned one at a bound that it cannot exceed, so it may lie lower in truth.',
    figure('Chips by two of their properties', '', explorer.element),
  );
}
