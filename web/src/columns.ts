// Columns of the document as arrays.
import type { Column, Space, TimelineDocument, Unit } from './schema';

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Typed arrays have the byte order of the machine; every browser that is in use runs on little-endian ones.
export const u8 = bytesOf;
export const u16 = (base64: string): Uint16Array => new Uint16Array(bytesOf(base64).buffer);
export const f32 = (base64: string): Float32Array => new Float32Array(bytesOf(base64).buffer);

export interface Values {
  key: string;
  label: string;
  unit: Unit;
  role: 'parameter' | 'metric';
  at: ArrayLike<number>;
  distinct: number[] | null; // in order, where they are few
}

function decode(column: Column, chips: number): Values {
  const { key, label, unit, role } = column;
  if (column.values && column.codes !== undefined) {
    const codes = u8(column.codes);
    const values = column.values;
    const at = new Float64Array(chips);
    for (let i = 0; i < chips; ++i) at[i] = values[codes[i] ?? 0] ?? NaN;
    return { key, label, unit, role, at, distinct: [...values].sort((a, b) => a - b) };
  }
  return { key, label, unit, role, at: f32(column.floats ?? ''), distinct: null };
}

export type OutcomeKind = 'evaluated' | 'pruned' | 'infeasible' | 'open';

export interface Chips {
  count: number;
  winner: number | null;
  columns: Values[];
  get(key: string): Values | undefined;
  outcomes: { key: string; label: string; kind: OutcomeKind }[];
  outcome: Uint8Array;
  // The score of evaluated chips, the bound of the others: no chip is better than this.
  best: Values;
}

export function chipsOf(space: Space): Chips {
  const columns = space.columns.map((column) => decode(column, space.chips));
  const byKey = new Map(columns.map((column) => [column.key, column]));
  const outcome = u8(space.outcomes.codes);
  const at = new Float64Array(space.chips);
  const score = byKey.get('score')?.at;
  const bound = byKey.get('bound')?.at;
  for (let i = 0; i < space.chips; ++i) {
    const reached = score?.[i] ?? NaN;
    at[i] = Number.isNaN(reached) ? (bound?.[i] ?? NaN) : reached;
    if (space.outcomes.values[outcome[i] ?? 0]?.kind === 'infeasible') at[i] = NaN;
  }
  const best: Values = { key: 'best', label: `${space.score_label} (bound where pruned)`, unit: space.score_unit, role: 'metric', at, distinct: null };
  return {
    count: space.chips,
    winner: space.winner,
    columns: [best, ...columns],
    get: (key) => (key === 'best' ? best : byKey.get(key)),
    outcomes: space.outcomes.values,
    outcome,
    best,
  };
}

export interface Events {
  count: number;
  activity: Uint8Array;
  device: Uint16Array;
  microbatch: Uint16Array;
  chunk: Uint8Array;
  start: Float32Array;
  end: Float32Array;
}

export function eventsOf(timeline: TimelineDocument): Events {
  return {
    count: timeline.events,
    activity: u8(timeline.activity),
    device: u16(timeline.device),
    microbatch: u16(timeline.microbatch),
    chunk: u8(timeline.chunk),
    start: f32(timeline.start),
    end: f32(timeline.end),
  };
}
