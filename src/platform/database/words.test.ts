import assert from 'node:assert/strict';
import test from 'node:test';
import { fold } from './words.ts';

test('folding ignores case and the width of characters, and keeps phrases that Unicode would expand', () => {
  assert.equal(fold('Ａirship ÉÉ'), 'airship éé');
  for (const length of [1, 7, 5_000]) {
    const folded = fold('xﷺﷻ'.repeat(length));
    assert.equal(folded, 'x\ue0fa\ue0fb'.repeat(length));
    assert.equal(fold(`y${'xﷺﷻ'.repeat(length)}`), `y${folded}`);
  }
});
