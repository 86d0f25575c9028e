// A chip of the space in words.
import type { Chips } from './columns';
import { bytes, grouped, withUnit } from './format';
import type { ChipDocument } from './schema';

export function shapeOf(chip: ChipDocument): string {
  const { tensor_cores: tensor, vector_cores: vector } = chip;
  return `${grouped(tensor.count)} × (${tensor.rows} × ${tensor.cols}) tensor, ${grouped(vector.count)} × ${vector.lanes} vector, ${bytes(chip.glb_bytes)}`;
}

// "8 × (128 × 128) tensor, 2 × 128 vector, 32 MiB" from the columns that a space has.
export function shortName(chips: Chips, i: number): string {
  const value = (key: string): number | undefined => chips.get(key)?.at[i];
  const parts: string[] = [];
  const tensor = value('tensor_cores');
  if (tensor !== undefined) parts.push(`${grouped(tensor)} × (${value('rows')} × ${value('cols')}) tensor`);
  const vector = value('vector_cores');
  if (vector !== undefined) parts.push(`${grouped(vector)} × ${value('lanes')} vector`);
  const buffer = value('global_buffer_bytes');
  if (buffer !== undefined) parts.push(bytes(buffer));
  return parts.length > 0 ? parts.join(', ') : `chip ${i}`;
}

export function outcomeOf(chips: Chips, i: number): { label: string; kind: string } {
  return chips.outcomes[chips.outcome[i] ?? 0] ?? { label: 'unknown', kind: 'open' };
}

// Everything known about a chip, as rows of name and value.
export function rowsOf(chips: Chips, i: number): [string, string][] {
  const rows: [string, string][] = [['Outcome', outcomeOf(chips, i).label]];
  for (const column of chips.columns) {
    if (column === chips.best) continue;
    const value = column.at[i];
    if (value === undefined || Number.isNaN(value)) continue;
    rows.push([column.label, withUnit(value, column.unit)]);
  }
  return rows;
}
