import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paretoFront } from '../src/pareto';
import { treemap } from '../src/sections/treemap';

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

test('the front is what no other point beats, on random points with ties', () => {
  for (let seed = 1; seed <= 300; ++seed) {
    const next = random(seed);
    const count = 1 + Math.floor(next() * 12);
    const x = Array.from({ length: count }, () => Math.floor(next() * 5));
    const y = Array.from({ length: count }, () => (next() < 0.1 ? NaN : Math.floor(next() * 5)));
    const front = paretoFront(x, y);
    const beats = (a: number, b: number): boolean =>
      (x[a] as number) <= (x[b] as number) && (y[a] as number) >= (y[b] as number) && (x[a] !== x[b] || y[a] !== y[b]);
    const unbeaten = x.flatMap((_, i) => (!Number.isNaN(y[i]) && !x.some((_x, j) => beats(j, i)) ? [i] : []));
    const points = (list: number[]): string[] => [...new Set(list.map((i) => `${x[i]},${y[i]}`))].sort();
    assert.deepEqual(points(front), points(unbeaten), `seed ${seed}`);
    assert.equal(points(front).length, front.length, 'equal points count once');
  }
});

test('blocks of a floor plan have the areas of their parts and fill the die', () => {
  for (let seed = 1; seed <= 100; ++seed) {
    const next = random(seed);
    const areas = Array.from({ length: 1 + Math.floor(next() * 6) }, () => 0.001 + next());
    const whole = areas.reduce((sum, area) => sum + area, 0);
    const blocks = treemap(areas, { x: 0, y: 0, width: 30, height: 20 });
    blocks.forEach((block, i) => {
      assert.ok(Math.abs((block.width * block.height) / 600 - (areas[i] as number) / whole) < 1e-9, `seed ${seed}`);
      assert.ok(block.x >= -1e-9 && block.y >= -1e-9 && block.x + block.width <= 30 + 1e-9 && block.y + block.height <= 20 + 1e-9);
    });
  }
});
