// ECharts as this page uses it: drawn when it comes near the view, redrawn when the theme or the width changes.
import { BarChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from 'echarts/charts';
import {
  BrushComponent,
  DataZoomInsideComponent,
  GridComponent,
  LegendPlainComponent,
  MarkLineComponent,
  ParallelComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';
import { h } from '../dom';
import { onTheme, palette } from '../theme';

echarts.use([
  BarChart,
  HeatmapChart,
  LineChart,
  ParallelChart,
  ScatterChart,
  BrushComponent,
  DataZoomInsideComponent,
  GridComponent,
  LegendPlainComponent,
  MarkLineComponent,
  ParallelComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
  CanvasRenderer,
  SVGRenderer,
]);

export interface ChartSettings {
  label: string; // what the chart shows, for those who cannot see it
  height: number;
  renderer: 'canvas' | 'svg';
  name: string; // for tests and style
  option: () => EChartsCoreOption;
  ready?: (chart: EChartsType) => void;
  drawn?: (chart: EChartsType) => void; // after every full redraw
}

export interface Chart {
  element: HTMLElement;
  redraw(): void;
  instance(): EChartsType | null;
}

const kFont = getComputedStyle(document.documentElement).getPropertyValue('--sans').trim() || 'system-ui, sans-serif';

// Charts outside the view cost nothing until they are scrolled to, or printed.
const waiting = new Map<Element, () => void>();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) start(entry.target);
  },
  { rootMargin: '400px' },
);

function start(element: Element): void {
  const begin = waiting.get(element);
  waiting.delete(element);
  watcher.unobserve(element);
  begin?.();
}

export function startAll(): void {
  for (const element of [...waiting.keys()]) start(element);
}

export function whenNear(element: Element, begin: () => void): void {
  waiting.set(element, begin);
  watcher.observe(element);
}

export function chart(settings: ChartSettings): Chart {
  const element = h('div', { class: 'chart', role: 'img', 'aria-label': settings.label, 'data-chart': settings.name });
  element.style.height = `${settings.height}px`;
  let instance: EChartsType | null = null;
  const redraw = (): void => {
    if (!instance) return;
    instance.setOption({ ...base(), ...settings.option() }, { notMerge: true });
    settings.drawn?.(instance);
  };
  whenNear(element, () => {
    instance = echarts.init(element, null, { renderer: settings.renderer });
    settings.ready?.(instance);
    redraw();
    element.dataset['drawn'] = 'true';
    let width = element.clientWidth;
    new ResizeObserver(() => {
      if (element.clientWidth === width || element.clientWidth === 0) return;
      const wasNarrow = width < kNarrow;
      width = element.clientWidth;
      instance?.resize();
      if (wasNarrow !== width < kNarrow) redraw();
    }).observe(element);
  });
  onTheme(redraw);
  return { element, redraw, instance: () => instance };
}

export const kNarrow = 560;

function base(): EChartsCoreOption {
  return {
    animation: false,
    textStyle: { fontFamily: kFont, color: palette().ink },
    tooltip: tooltip(),
  };
}

export function tooltip(more: Record<string, unknown> = {}): Record<string, unknown> {
  const colours = palette();
  return {
    confine: true,
    backgroundColor: colours.card,
    borderColor: colours.line,
    borderWidth: 1,
    padding: [8, 12],
    textStyle: { color: colours.ink, fontFamily: kFont, fontSize: 13 },
    extraCssText: 'box-shadow: 0 4px 18px rgb(0 0 0 / 16%); border-radius: 6px;',
    ...more,
  };
}

export function axis(more: Record<string, unknown> = {}): Record<string, unknown> {
  const colours = palette();
  const { axisLabel, nameTextStyle, ...rest } = more as { axisLabel?: object; nameTextStyle?: object };
  return {
    axisLine: { show: true, lineStyle: { color: colours.line } },
    axisTick: { show: false },
    splitLine: { show: true, lineStyle: { color: colours.faint } },
    axisLabel: { color: colours.muted, fontSize: 12, hideOverlap: true, ...axisLabel },
    nameTextStyle: { color: colours.muted, fontSize: 12, ...nameTextStyle },
    ...rest,
  };
}

// Rows of a tooltip, as an element: text from files stays text.
export function tip(title: string, rows: [string, string][]): HTMLElement {
  const list = h('dl', { class: 'tip' });
  for (const [name, value] of rows) list.append(h('dt', {}, name), h('dd', {}, value));
  return h('div', {}, h('div', { class: 'tip-title' }, title), list);
}
