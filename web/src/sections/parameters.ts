// How the parameters of a chip go with its score: the best chip of every pair of values, and the best chips as lines.
import type { EChartsCoreOption } from 'echarts/core';
import { axis, chart, kNarrow, tip, tooltip } from '../charts/chart';
import { outcomeOf, shortName } from '../chip';
import type { Chips, Values } from '../columns';
import { h, select } from '../dom';
import { axisValue, percent, plural, withUnit } from '../format';
import { palette } from '../theme';
import { figure, section, type Section } from './section';

const kLines = 250;

// Indices of chips, the best first; chips without a score or bound are left out.
function ranking(chips: Chips): number[] {
  const score = chips.best.at;
  const evaluated = (i: number): number => (outcomeOf(chips, i).kind === 'evaluated' ? 1 : 0);
  const order: number[] = [];
  for (let i = 0; i < chips.count; ++i) if (!Number.isNaN(score[i])) order.push(i);
  return order.sort((a, b) => (score[b] as number) - (score[a] as number) || evaluated(b) - evaluated(a) || a - b);
}

function heatMap(chips: Chips, parameters: Values[]): HTMLElement {
  let x = parameters.find((p) => p.key === 'rows') ?? (parameters[0] as Values);
  let y = parameters.find((p) => p.key === 'tensor_cores' && p !== x) ?? (parameters.find((p) => p !== x) as Values);
  const score = chips.best;
  const winner = chips.winner;
  const reference = winner === null ? NaN : (score.at[winner] as number);

  const option = (): EChartsCoreOption => {
    const colours = palette();
    const narrow = drawing.element.clientWidth < kNarrow;
    const columns = x.distinct ?? [];
    const rows = y.distinct ?? [];
    const best = new Map<number, number>(); // cell → chip
    for (let i = 0; i < chips.count; ++i) {
      const value = score.at[i] as number;
      if (Number.isNaN(value)) continue;
      const cell = columns.indexOf(x.at[i] as number) * rows.length + rows.indexOf(y.at[i] as number);
      const holder = best.get(cell);
      if (holder === undefined || value > (score.at[holder] as number)) best.set(cell, i);
    }
    const data: [number, number, number, number][] = [];
    let low = Infinity;
    let high = -Infinity;
    for (const [cell, i] of best) {
      const value = score.at[i] as number;
      low = Math.min(low, value);
      high = Math.max(high, value);
      data.push([Math.floor(cell / rows.length), cell % rows.length, value, i]);
    }
    const here: [number, number][] = winner === null ? [] : [[columns.indexOf(x.at[winner] as number), rows.indexOf(y.at[winner] as number)]];
    const category = (values: Values, horizontal: boolean): Record<string, unknown> =>
      axis({
        type: 'category',
        data: (values.distinct ?? []).map((value) => axisValue(value, values.unit)),
        name: values.label,
        nameLocation: horizontal ? 'middle' : 'end',
        nameGap: horizontal ? 32 : 14,
        nameTextStyle: horizontal ? {} : { align: 'left' },
        splitLine: { show: false },
      });
    return {
      grid: { left: 12, right: 12, top: 40, bottom: 76, containLabel: true },
      xAxis: category(x, true),
      yAxis: category(y, false),
      visualMap: {
        type: 'continuous',
        min: Number.isFinite(low) ? low : 0,
        max: Number.isFinite(high) ? high : 1,
        dimension: 2,
        seriesIndex: 0,
        orient: 'horizontal',
        left: 'center',
        bottom: 0,
        itemWidth: 12,
        itemHeight: narrow ? 120 : 220,
        calculable: false,
        inRange: { color: colours.ramp },
        text: [withUnit(high, score.unit), withUnit(low, score.unit)],
        textStyle: { color: colours.muted },
      },
      tooltip: tooltip({
        formatter: (found: { data?: unknown }) => {
          const i = Array.isArray(found.data) && found.data.length > 3 ? (found.data[3] as number) : winner;
          if (i === null || i < 0) return '';
          return tip(shortName(chips, i), [
            [score.label, withUnit(score.at[i], score.unit)],
            ['of the best', percent((score.at[i] as number) / reference)],
            ['Outcome', outcomeOf(chips, i).label],
          ]);
        },
      }),
      series: [
        { type: 'heatmap', data, itemStyle: { borderColor: colours.card, borderWidth: 2, borderRadius: 3 }, emphasis: { itemStyle: { borderColor: colours.ink } } },
        {
          type: 'scatter',
          data: here,
          symbol: 'diamond',
          symbolSize: 15,
          itemStyle: { color: colours.warm, borderColor: colours.card, borderWidth: 2 },
          z: 5,
        },
      ],
    };
  };
  const drawing = chart({
    name: 'heat-map',
    label: 'Heat map: the best score or bound of any chip for every pair of values of two parameters',
    height: 460,
    renderer: 'svg',
    option,
  });
  const choices = parameters.map((p) => ({ value: p.key, label: p.label }));
  const pick = (label: string, now: Values, changed: (values: Values) => void): HTMLElement =>
    select(label, choices, now.key, (key) => {
      changed(chips.get(key) ?? now);
      drawing.redraw();
    });
  return figure(
    'The best chip of every pair of values',
    'Each cell shows the score, or the bound where it was pruned, of the best chip that has both values. The diamond marks the best chip of all.',
    h(
      'div',
      { class: 'controls' },
      pick('Horizontal', x, (values) => (x = values)),
      pick('Vertical', y, (values) => (y = values)),
    ),
    drawing.element,
  );
}

function parallelLines(chips: Chips, parameters: Values[]): HTMLElement {
  const order = ranking(chips).slice(0, kLines);
  const metrics = ['area_um2', 'tdp_watts', 'best'].map((key) => chips.get(key)).filter((v) => v !== undefined);
  const shown = [...parameters, ...metrics].filter((values) => values.distinct === null || values.distinct.length > 1);
  const drawing = chart({
    name: 'parallel',
    label: `Parallel coordinates of the ${plural(order.length, 'chip')} with the best scores or bounds`,
    height: 420,
    renderer: 'canvas',
    option: () => {
      const colours = palette();
      const narrow = drawing.element.clientWidth < kNarrow;
      const axes = narrow ? shown.slice(0, 4).concat(shown.slice(-1)) : shown;
      const last = axes.length - 1;
      const label = { color: colours.ink, fontSize: 11, textBorderColor: colours.paper, textBorderWidth: 3 };
      const line = (i: number): { value: (number | string)[]; name: string } => ({
        value: axes.map((values) => (values.distinct ? axisValue(values.at[i] as number, values.unit) : (values.at[i] as number))),
        name: shortName(chips, i),
      });
      const said = { formatter: (found: { name?: string }) => tip(found.name ?? '', []) };
      const scores = order.map((i) => chips.best.at[i] as number);
      return {
        tooltip: tooltip({ trigger: 'item' }),
        parallel: {
          left: narrow ? 34 : 64,
          right: narrow ? 40 : 90,
          top: 48,
          bottom: 24,
          parallelAxisDefault: {
            nameTextStyle: { color: colours.muted, fontSize: narrow ? 10 : 12 },
            nameGap: 18,
            axisLine: { lineStyle: { color: colours.muted } },
            axisTick: { show: false },
            axisLabel: label,
            areaSelectStyle: { width: 16, borderColor: colours.accent, color: colours.accent, opacity: 0.25 },
          },
        },
        parallelAxis: axes.map((values, dim) => ({
          dim,
          name: values === chips.best ? 'Score or bound' : narrow ? values.label.split(' ')[0] : values.label,
          type: values.distinct ? 'category' : 'value',
          scale: true,
          ...(values.distinct
            ? { data: values.distinct.map((value) => axisValue(value, values.unit)) }
            : { axisLabel: { ...label, formatter: (value: number) => axisValue(value, values.unit) } }),
        })),
        visualMap: {
          show: false,
          min: Math.min(...scores),
          max: Math.max(...scores),
          dimension: last,
          seriesIndex: 0,
          inRange: { color: colours.ramp },
        },
        series: [
          {
            type: 'parallel',
            lineStyle: { width: 1.2, opacity: 0.55 },
            inactiveOpacity: 0.04,
            activeOpacity: 0.9,
            // The better ones are drawn on top.
            data: [...order].reverse().map(line),
            tooltip: said,
          },
          {
            type: 'parallel',
            lineStyle: { width: 3, opacity: 1, color: colours.warm },
            inactiveOpacity: 0.3,
            activeOpacity: 1,
            data: chips.winner === null ? [] : [line(chips.winner)],
            tooltip: said,
            z: 5,
          },
        ],
      };
    },
  });
  return figure(
    `The ${plural(order.length, 'chip')} of the highest scores and bounds, as lines`,
    'Drag along an axis to keep only the lines that pass there. The best chip is the thick line.',
    drawing.element,
  );
}

export function parameterViews(chips: Chips): Section | null {
  const listed = chips.columns.filter((c) => c.role === 'parameter' && c.distinct !== null && c.distinct.length > 1 && c.distinct.length <= 64);
  // Tied parameters (lanes that equal rows) say nothing new.
  const equal = (a: Values, b: Values): boolean => Array.prototype.every.call(a.at, (value: number, i: number) => value === b.at[i]);
  const parameters = listed.filter((column, i) => !listed.slice(0, i).some((other) => equal(other, column)));
  if (parameters.length < 2) return null;
  return section(
    'parameters',
    'Parameters',
    'What the parameters do',
    'Where in the space good chips are, parameter by parameter.',
    heatMap(chips, parameters),
    parallelLines(chips, parameters),
  );
}
