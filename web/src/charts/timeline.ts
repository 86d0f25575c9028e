// One iteration as a chart of who does what when: a lane per pipeline stage, on a canvas, so that tens of thousands of
// passes pan and zoom smoothly.
import type { Events } from '../columns';
import { h } from '../dom';
import { percent, seconds, sentence, words } from '../format';
import type { TimelineDocument } from '../schema';
import { onTheme, palette } from '../theme';
import { tip, whenNear } from './chart';

const kAxis = 26;
const kGutter = 44; // names of stages

// Activities in the order of sim::Activity, as the document names them.
const kColours: Record<string, number> = { forward: 0, backward: 1, send_forward: 5, send_backward: 4, reduce: 2, tied: 3, step: 6, gather: 3 };

function laneHeight(lanes: number): number {
  return Math.max(4, Math.min(30, Math.floor(480 / lanes)));
}

function niceStep(span: number, most: number): number {
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly tooltip = h('div', { class: 'floating', hidden: true });
  private readonly said = h('p', { class: 'note', 'aria-live': 'polite' });
  private readonly lanes: number[][]; // events of each stage, by start
  private from = 0;
  private to: number;
  private readonly height: number;
  private readonly lane: number;
  private width = 0;
  private frame = 0;

  constructor(
    private readonly document: TimelineDocument,
    private readonly events: Events,
  ) {
    this.lanes = Array.from({ length: document.devices }, () => []);
    for (let i = 0; i < events.count; ++i) this.lanes[events.device[i] ?? 0]?.push(i);
    for (const lane of this.lanes) lane.sort((a, b) => (events.start[a] as number) - (events.start[b] as number));
    this.lane = laneHeight(document.devices);
    this.height = kAxis + this.lane * document.devices + 4;
    this.to = this.opening();
    this.canvas = h('canvas', {
      role: 'img',
      tabindex: '0',
      'data-chart': 'timeline',
      'aria-label': `Timeline of one iteration: ${document.devices} stages, ${document.microbatches} microbatches, ${seconds(document.seconds)}, ${percent(document.bubble_fraction)} idle. Plus and minus zoom, arrow keys move, Home shows all.`,
    });
    this.canvas.style.height = `${this.height}px`;
    const button = (text: string, label: string, act: () => void): HTMLElement => h('button', { type: 'button', 'aria-label': label, click: act }, text);
    this.element = h(
      'div',
      { class: 'timeline' },
      h(
        'div',
        { class: 'controls' },
        h(
          'div',
          { class: 'segments', role: 'group', 'aria-label': 'Zoom of the timeline' },
          button('−', 'Zoom out', () => this.zoom(2)),
          button('+', 'Zoom in', () => this.zoom(0.5)),
          button('Whole iteration', 'Show the whole iteration', () => this.show(0, document.seconds)),
          button('Start', 'Show the start', () => this.show(0, this.opening())),
          button('End', 'Show the end', () => this.show(document.seconds - this.opening(), document.seconds)),
        ),
      ),
      h('div', { class: 'canvas-frame' }, this.canvas, this.tooltip),
      this.legend(),
      this.said,
    );
    this.listen();
    whenNear(this.canvas, () => {
      new ResizeObserver(() => this.resize()).observe(this.canvas);
      this.resize();
      this.canvas.dataset['drawn'] = 'true';
    });
    onTheme(() => this.draw());
  }

  // Long iterations open on their start, where single passes can be seen.
  private opening(): number {
    const { seconds: whole, microbatches, devices } = this.document;
    const shown = devices + 24;
    return microbatches > 1.5 * shown ? (whole * shown) / (microbatches + devices) : whole;
  }

  private legend(): HTMLElement {
    const present = new Set(this.events.activity);
    const list = h('ul', { class: 'legend' });
    this.document.activities.forEach((name, activity) => {
      if (!present.has(activity)) return;
      const swatch = h('i', { class: 'swatch' });
      const paint = (): void => void (swatch.style.backgroundColor = palette().categories[kColours[name] ?? 6] ?? '');
      paint();
      onTheme(paint);
      list.append(h('li', {}, swatch, words(name)));
    });
    list.append(h('li', {}, h('i', { class: 'swatch idle' }), 'idle'));
    return list;
  }

  private resize(): void {
    const width = this.canvas.clientWidth;
    if (width === 0 || width === this.width) return;
    this.width = width;
    const dense = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * dense);
    this.canvas.height = Math.round(this.height * dense);
    this.draw();
  }

  private show(from: number, to: number): void {
    const whole = this.document.seconds;
    const span = Math.min(Math.max(to - from, whole * 1e-5), whole);
    this.from = Math.min(Math.max(from, 0), whole - span);
    this.to = this.from + span;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
    this.said.textContent = `Showing ${seconds(this.from)} to ${seconds(this.to)} of ${seconds(whole)}.`;
  }

  private zoom(factor: number, at = (this.from + this.to) / 2): void {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  private timeAt(x: number): number {
    return this.from + ((x - kGutter) / (this.width - kGutter)) * (this.to - this.from);
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener('keydown', (event) => {
      const step = (this.to - this.from) / 5;
      const act: Record<string, () => void> = {
        '+': () => this.zoom(0.5),
        '=': () => this.zoom(0.5),
        '-': () => this.zoom(2),
        ArrowLeft: () => this.show(this.from - step, this.to - step),
        ArrowRight: () => this.show(this.from + step, this.to + step),
        Home: () => this.show(0, this.document.seconds),
      };
      const chosen = act[event.key];
      if (!chosen) return;
      event.preventDefault();
      chosen();
    });
    canvas.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // plain scrolling scrolls the page
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.offsetX));
      },
      { passive: false },
    );
    canvas.addEventListener('dblclick', (event) => this.zoom(0.4, this.timeAt(event.offsetX)));
    let grip: { x: number; from: number; to: number } | null = null;
    canvas.addEventListener('pointerdown', (event) => {
      grip = { x: event.offsetX, from: this.from, to: this.to };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (grip) {
        const moved = ((event.offsetX - grip.x) / (this.width - kGutter)) * (grip.to - grip.from);
        this.show(grip.from - moved, grip.to - moved);
      } else this.hover(event.offsetX, event.offsetY);
    });
    const release = (): void => void (grip = null);
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointerleave', () => (this.tooltip.hidden = true));
  }

  // The event under a point: passes fill a lane, messages its lower edge.
  private hit(x: number, y: number): number | null {
    const stage = Math.floor((y - kAxis) / this.lane);
    const lane = this.lanes[stage];
    if (!lane || x < kGutter) return null;
    const time = this.timeAt(x);
    let found: number | null = null;
    for (const i of lane) {
      if ((this.events.start[i] as number) > time) break;
      if ((this.events.end[i] as number) < time) continue;
      if (found === null || this.isMessage(i) === (y - kAxis) % this.lane > 0.8 * this.lane) found = i;
    }
    return found;
  }

  private isMessage(i: number): boolean {
    return (this.document.activities[this.events.activity[i] ?? 0] ?? '').startsWith('send');
  }

  private hover(x: number, y: number): void {
    const i = this.hit(x, y);
    this.tooltip.hidden = i === null;
    if (i === null) return;
    const { events, document } = this;
    const start = events.start[i] as number;
    const end = events.end[i] as number;
    const activity = document.activities[events.activity[i] ?? 0] ?? '';
    const rows: [string, string][] = [
      ['Starts', seconds(start)],
      ['Takes', seconds(end - start)],
    ];
    if (/forward|backward/.test(activity)) rows.unshift(['Microbatch', String((events.microbatch[i] ?? 0) + 1)]);
    if (document.chunks > 1) rows.unshift(['Chunk', String((events.chunk[i] ?? 0) + 1)]);
    this.tooltip.replaceChildren(tip(`${sentence(words(activity))}, stage ${(events.device[i] ?? 0) + 1}`, rows));
    this.tooltip.style.left = `${Math.min(x + 14, this.width - 190)}px`;
    this.tooltip.style.top = `${y + 14}px`;
  }

  private draw(): void {
    const context = this.canvas.getContext('2d');
    if (!context || this.width === 0) return;
    const colours = palette();
    const { events, document, lane } = this;
    const dense = window.devicePixelRatio || 1;
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const font = getComputedStyle(this.canvas).fontFamily;
    const perSecond = (this.width - kGutter) / (this.to - this.from);
    const xOf = (time: number): number => kGutter + (time - this.from) * perSecond;

    context.font = `11px ${font}`;
    context.fillStyle = colours.muted;
    context.textAlign = 'center';
    const step = niceStep(this.to - this.from, Math.max(2, this.width / 130));
    for (let tick = Math.ceil(this.from / step) * step; tick <= this.to; tick += step) {
      const x = xOf(tick);
      context.fillStyle = colours.faint;
      context.fillRect(x, kAxis - 4, 1, this.height);
      context.fillStyle = colours.muted;
      if (x > kGutter + 16 && x < this.width - 24) context.fillText(seconds(Math.abs(tick) < step / 1e6 ? 0 : tick), x, 14);
    }
    context.textAlign = 'right';
    const every = Math.max(1, Math.ceil(14 / lane));
    for (let stage = 0; stage < document.devices; ++stage) {
      const y = kAxis + stage * lane;
      context.fillStyle = colours.faint;
      context.fillRect(kGutter, y + 1, this.width - kGutter, Math.max(1, lane - 2));
      if (stage % every !== 0) continue;
      context.fillStyle = colours.muted;
      context.fillText(String(stage + 1), kGutter - 8, y + Math.max(lane, 10) / 2 + 4);
    }
    context.save();
    context.beginPath();
    context.rect(kGutter, 0, this.width - kGutter, this.height);
    context.clip();
    context.textAlign = 'center';
    context.font = `${Math.min(11, lane - 4)}px ${font}`;
    const messageHeight = Math.max(1, Math.round(lane * 0.2));
    this.lanes.forEach((line, stage) => {
      const top = kAxis + stage * lane + 1;
      for (const i of line) {
        const start = events.start[i] as number;
        const end = events.end[i] as number;
        if (end < this.from || start > this.to) continue;
        const activity = document.activities[events.activity[i] ?? 0] ?? '';
        const x = xOf(start);
        const width = Math.max((end - start) * perSecond, 0.4);
        const message = this.isMessage(i);
        const full = Math.max(1, lane - 2);
        context.fillStyle = colours.categories[kColours[activity] ?? 6] ?? '';
        // Later chunks of an interleaved stage are paler.
        context.globalAlpha = message ? 1 : 1 - 0.45 * ((events.chunk[i] ?? 0) / Math.max(document.chunks, 2));
        const gap = width > 3 ? 0.6 : 0;
        if (message) context.fillRect(x, top + full - messageHeight, width, messageHeight);
        else context.fillRect(x, top, width - gap, full);
        context.globalAlpha = 1;
        const name = String((events.microbatch[i] ?? 0) + 1);
        if (!message && lane >= 14 && width > 6.5 * name.length + 4 && /^(forward|backward)$/.test(activity)) {
          context.fillStyle = colours.mode === 'light' ? '#ffffff' : '#0d1116';
          context.fillText(name, x + width / 2, top + full / 2 + 4);
        }
      }
    });
    context.restore();
  }
}
