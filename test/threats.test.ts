import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const page = readFileSync('docs/threats.md', 'utf8');
const rows = page.split('\n').filter((line) => /^\| T\d/.test(line));

test('every threat to identity has a row', () => {
  const numbers = rows.map((row) => Number(/^\| T(\d+)/.exec(row)![1]));
  const upTo23 = Array.from({ length: 13 }, (_, index) => 11 + index);
  assert.deepEqual(numbers.slice(0, 13), upTo23);
  assert.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  );
});

for (const row of rows) {
  const [, number] = /^\| (T\d+)/.exec(row)!;
  test(`the tests that docs/threats.md names for ${number} exist`, () => {
    const shown = row.split(' | ').at(-1)!;
    const files = shown.split(' · ');
    assert.ok(files.length > 0);
    for (const part of files) {
      const [, file] = /`([^`]+\.test\.ts)`/.exec(part)!;
      const source = readFileSync(file!, 'utf8');
      const names = [...part.matchAll(/“([^”]+)”/g)].map(([, name]) => name!);
      assert.ok(names.length > 0, part);
      for (const name of names) assert.ok(source.includes(name), `${file} has no test “${name}”`);
    }
  });
}
