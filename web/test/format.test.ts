import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, counted, percent, seconds, significant, withUnit } from '../src/format';

const plain = (text: string): string => text.replaceAll('\u202f', ' ');

test('numbers have three significant digits and no exponent', () => {
  assert.equal(significant(0.0123456), '0.0123');
  assert.equal(significant(1.23456), '1.23');
  assert.equal(significant(123.456), '123');
  assert.equal(significant(1234567), '1,234,567');
  assert.equal(significant(99.99), '100');
  assert.equal(significant(NaN), '–');
  assert.equal(significant(1.234e-7), '1.23 × 10⁻⁷');
});

test('quantities carry the unit that suits their size', () => {
  assert.equal(plain(seconds(0.00234)), '2.34 ms');
  assert.equal(plain(seconds(2.5e-6)), '2.50 µs');
  assert.equal(plain(bytes(32 * 2 ** 20)), '32 MiB');
  assert.equal(plain(bytes(34.56e9)), '32.2 GiB');
  assert.equal(plain(withUnit(278826676, 'um2')), '278.8 mm²');
  assert.equal(plain(withUnit(2.75e14, 'flops')), '275 TFLOP/s');
  assert.equal(plain(percent(0.1234)), '12.3 %');
  assert.equal(plain(counted(6.7e9)), '6.70 B');
  assert.equal(withUnit(null, 'watts'), '–');
});
