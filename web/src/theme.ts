// Light and dark. Colours are told apart by lightness as well as hue (after Okabe and Ito), and never carry meaning
// alone: legends, labels and positions repeat it.

export type Mode = 'light' | 'dark';

export interface Palette {
  mode: Mode;
  ink: string;
  muted: string;
  line: string;
  faint: string;
  paper: string;
  card: string;
  accent: string;
  warm: string;
  categories: string[];
  pruned: string[];
  infeasible: string;
  open: string;
  ramp: string[]; // low to high
}

const kLight: Palette = {
  mode: 'light',
  ink: '#1a2027',
  muted: '#5a6570',
  line: '#dcdfe3',
  faint: '#eef0f2',
  paper: '#fbfbf9',
  card: '#ffffff',
  accent: '#0b62a4',
  warm: '#c2410c',
  categories: ['#1f6fb2', '#d1701f', '#12876a', '#8b5fa8', '#b88a00', '#5fa8d3', '#7d868f'],
  pruned: ['#d5dae0', '#b7c3ce', '#93a8ba', '#6f8da6', '#557a98'],
  infeasible: '#b3a39a',
  open: '#b88a00',
  ramp: ['#d3dde3', '#9cc3d0', '#5aa0b8', '#2b769a', '#174f78', '#0b2a4f'],
};

const kDark: Palette = {
  mode: 'dark',
  ink: '#e8eaed',
  muted: '#a1abb5',
  line: '#323a43',
  faint: '#20262d',
  paper: '#12161b',
  card: '#191f26',
  accent: '#6cb6ee',
  warm: '#ff9b66',
  categories: ['#5aa9e6', '#f0954a', '#3fc09b', '#c29be0', '#e3bd4a', '#9fd3f2', '#9aa4ae'],
  pruned: ['#39434d', '#475663', '#566b7b', '#678195', '#7a98ad'],
  infeasible: '#6b5f58',
  open: '#e3bd4a',
  ramp: ['#2c4450', '#2f6c80', '#3f98a6', '#67c2b5', '#b3e3b0', '#f6f8b4'],
};

let mode: Mode = 'light';
const listeners = new Set<() => void>();

export function palette(): Palette {
  return mode === 'light' ? kLight : kDark;
}

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

export function setMode(next: Mode): void {
  mode = next;
  document.documentElement.dataset['theme'] = next;
  for (const listener of listeners) listener();
}

export function currentMode(): Mode {
  return mode;
}

// What the reader's system prefers, also when that changes while the page is open; paper is light.
export function followSystem(): void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  mode = dark.matches ? 'dark' : 'light';
  document.documentElement.dataset['theme'] = mode;
  dark.addEventListener('change', () => setMode(dark.matches ? 'dark' : 'light'));
  let before: Mode = mode;
  window.addEventListener('beforeprint', () => {
    before = mode;
    if (mode === 'dark') setMode('light');
  });
  window.addEventListener('afterprint', () => {
    if (before !== mode) setMode(before);
  });
}

function mix(a: string, b: string, t: number): string {
  const part = (hex: string, at: number): number => parseInt(hex.slice(at, at + 2), 16);
  const channel = (at: number): string =>
    Math.round(part(a, at) * (1 - t) + part(b, at) * t)
      .toString(16)
      .padStart(2, '0');
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}

// A colour of the ramp; t from 0 to 1.
export function onRamp(t: number): string {
  const ramp = palette().ramp;
  const at = Math.min(Math.max(t, 0), 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  return mix(ramp[low] ?? '#000000', ramp[low + 1] ?? '#000000', at - low);
}
