// The points that no other beats: less (or equal) of x, more (or equal) of y, and not both equal.
//
// Sorted by x, and by y downwards where x is equal, a point is on the front exactly when its y is above that of all
// points before it.
export function paretoFront(x: ArrayLike<number>, y: ArrayLike<number>, considered: (i: number) => boolean = () => true): number[] {
  const order: number[] = [];
  for (let i = 0; i < x.length; ++i) if (considered(i) && Number.isFinite(x[i]) && Number.isFinite(y[i])) order.push(i);
  order.sort((a, b) => (x[a] as number) - (x[b] as number) || (y[b] as number) - (y[a] as number) || a - b);
  const front: number[] = [];
  let highest = -Infinity;
  for (const i of order) {
    const value = y[i] as number;
    if (value <= highest) continue;
    highest = value;
    front.push(i);
  }
  return front;
}
