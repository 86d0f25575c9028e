// Numbers as people read them.
import type { Unit } from './schema';

const kThin = '\u202f'; // between a number and its unit

export function grouped(value: number): string {
  const text = String(Math.round(value));
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// Three significant digits: 0.0123, 1.23, 123; larger whole numbers in full: 12,345.
export function significant(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  // Rounded first: 99.99 is a number of three digits before the point, not of two.
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  if (magnitude >= digits) return grouped(Math.round(value));
  if (magnitude < -4) return value.toExponential(digits - 1).replace('e-', ' × 10⁻').replace(/⁻(\d+)$/, (_, d: string) => '⁻' + superscript(d));
  return value.toFixed(Math.max(0, digits - 1 - magnitude));
}

function superscript(digits: string): string {
  return [...digits].map((d) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(d)] ?? d).join('');
}

function scaled(value: number, base: number, names: string[], digits: number): string {
  if (!Number.isFinite(value)) return '–';
  let step = 0;
  let rest = value;
  while (Math.abs(rest) >= base * 0.9995 && step + 1 < names.length) {
    rest /= base;
    step += 1;
  }
  return significant(rest, digits) + kThin + (names[step] ?? '');
}

export function bytes(value: number): string {
  return scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], Number.isInteger(Math.log2(value)) ? 4 : 3).replace(/\.0+(?=\u202f)/, '');
}

export function seconds(value: number): string {
  if (value === 0) return `0${kThin}s`;
  if (Math.abs(value) >= 3600) return significant(value / 3600) + kThin + 'h';
  if (Math.abs(value) >= 1) return significant(value) + kThin + 's';
  if (Math.abs(value) >= 1e-3) return significant(value * 1e3) + kThin + 'ms';
  if (Math.abs(value) >= 1e-6) return significant(value * 1e6) + kThin + 'µs';
  return significant(value * 1e9) + kThin + 'ns';
}

export function percent(fraction: number, digits = 1): string {
  return Number.isFinite(fraction) ? (100 * fraction).toFixed(digits) + kThin + '%' : '–';
}

export function counted(value: number): string {
  return value >= 1e6 ? scaled(value, 1000, ['', 'k', 'M', 'B', 'T'], 3) : grouped(value);
}

export function times(ratio: number): string {
  return significant(ratio) + kThin + '×';
}

export function withUnit(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  switch (unit) {
    case 'count': return Number.isInteger(value) ? grouped(value) : significant(value);
    case 'bytes': return bytes(value);
    case 'bytes/s': return scaled(value, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'], 3);
    case 'um2': return significant(value / 1e6, 4) + kThin + 'mm²';
    case 'watts': return significant(value) + kThin + 'W';
    case 'seconds': return seconds(value);
    case 'samples/s': return significant(value, 4) + kThin + 'samples/s';
    case 'flops': return scaled(value, 1000, ['FLOP/s', 'kFLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s', 'EFLOP/s'], 3);
    case 'fraction': return percent(value);
    case 'score': return significant(value, 4);
    case 'nm': return significant(value) + kThin + 'nm';
    case 'hz': return scaled(value, 1000, ['Hz', 'kHz', 'MHz', 'GHz'], 3);
  }
}

// What stands on an axis: the number alone; the unit is in the axis's name.
export function axisValue(value: number, unit: Unit): string {
  switch (unit) {
    case 'bytes': return bytes(value);
    case 'um2': return trimmed(value / 1e6);
    case 'flops': return withUnit(value, unit);
    case 'fraction': return `${trimmed(value * 100)}${kThin}%`;
    default: return Math.abs(value) >= 1e6 ? scaled(value, 1000, ['', 'k', 'M', 'G', 'T'], 3).trim() : trimmed(value);
  }
}

function trimmed(value: number): string {
  if (Math.abs(value) >= 1000) return grouped(value);
  return String(Number(value.toPrecision(6)));
}

export function unitName(unit: Unit): string {
  switch (unit) {
    case 'um2': return 'mm²';
    case 'watts': return 'W';
    case 'seconds': return 's';
    case 'samples/s': return 'samples/s';
    case 'nm': return 'nm';
    case 'hz': return 'Hz';
    default: return '';
  }
}

// For columns whose heading names the unit.
export function numberOnly(value: number | undefined, unit: Unit): string {
  const text = withUnit(value, unit);
  const name = unitName(unit);
  return name !== '' && text.endsWith(kThin + name) ? text.slice(0, -name.length - 1) : text;
}

export function named(label: string, unit: Unit): string {
  const name = unitName(unit);
  return name === '' ? label : `${label} (${name})`;
}

// "tensor_cores" → "tensor cores".
export function words(key: string): string {
  return key.replaceAll(/[_.]/g, ' ').replace(/\bhbm\b/g, 'HBM');
}

export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
