import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import fc from 'fast-check';
import { fitsPattern, patternOf } from './patterns.ts';

test('a pattern matches the same texts as in SQLite', () => {
  const db = new DatabaseSync(':memory:');
  db.exec('pragma case_sensitive_like = on');
  const like = db.prepare("select ? like ? escape '\\' as fits");
  const letters = fc.constantFrom('a', 'b', 'ä', '😀');
  const escaped = fc.constantFrom('\\%', '\\_', '\\\\');
  const pattern = fc.array(fc.oneof(letters, fc.constant('%'), escaped), { maxLength: 8 });
  const text = fc.array(fc.oneof(letters, fc.constantFrom('%', '_', '\\')), { maxLength: 12 });
  fc.assert(
    fc.property(pattern, text, (pieces, characters) => {
      const [asked, looked] = [pieces.join(''), characters.join('')];
      const { fits } = like.get(looked, asked) as { fits: number };
      assert.equal(fitsPattern(looked, patternOf(asked)), fits === 1, `${looked} like ${asked}`);
    }),
    { numRuns: 3_000 },
  );
});
