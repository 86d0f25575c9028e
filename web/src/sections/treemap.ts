export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

// Squarified treemap (Bruls, Huizing, van Wijk 2000): rows along the shorter side, each as square as it gets.
export function treemap(areas: number[], into: Rect): Rect[] {
  const result: Rect[] = new Array<Rect>(areas.length);
  const order = areas.map((_, i) => i).sort((a, b) => (areas[b] as number) - (areas[a] as number));
  const scale = (into.width * into.height) / areas.reduce((sum, area) => sum + area, 0);
  let rest = { ...into };
  const worst = (row: number[], side: number): number => {
    const sum = row.reduce((total, i) => total + (areas[i] as number) * scale, 0);
    return Math.max(...row.map((i) => Math.max((side * side * (areas[i] as number) * scale) / (sum * sum), (sum * sum) / (side * side * (areas[i] as number) * scale))));
  };
  const place = (row: number[]): void => {
    const sum = row.reduce((total, i) => total + (areas[i] as number) * scale, 0);
    const upright = rest.width >= rest.height; // the row is a column at the left
    const depth = sum / (upright ? rest.height : rest.width);
    let along = upright ? rest.y : rest.x;
    for (const i of row) {
      const length = ((areas[i] as number) * scale) / depth;
      result[i] = upright ? { x: rest.x, y: along, width: depth, height: length } : { x: along, y: rest.y, width: length, height: depth };
      along += length;
    }
    rest = upright
      ? { ...rest, x: rest.x + depth, width: rest.width - depth }
      : { ...rest, y: rest.y + depth, height: rest.height - depth };
  };
  let row: number[] = [];
  for (const i of order) {
    const side = Math.min(rest.width, rest.height);
    if (row.length > 0 && worst([...row, i], side) > worst(row, side)) {
      place(row);
      row = [];
    }
    row.push(i);
  }
  if (row.length > 0) place(row);
  return result;
}
