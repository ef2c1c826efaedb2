import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Framing } from './framing.ts';

const OPENING = '\r\n--b\r\n';
const CLOSING = '\r\n--b--\r\n';

/** The expected result for the whole body at once. */
function closedWhole(body: string): string {
  const whole = `\r\n${body}`;
  if (body === '') return CLOSING;
  return whole.endsWith(OPENING) ? `${whole.slice(0, -OPENING.length)}${CLOSING}` : whole;
}

test('a body in any chunks is closed like the whole body', () => {
  const piece = fc.constantFrom('\r', '\n', '-', 'b', 'x', '\r\n', '--b', OPENING, CLOSING, 'some bytes of a file');
  const bodies = fc.array(
    fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(bodies, (chunks) => {
      const framing = new Framing('b');
      const found = chunks.flatMap((chunk) => framing.take(Buffer.from(chunk)));
      assert.equal(Buffer.concat([...found, framing.end()]).toString(), closedWhole(chunks.join('')));
    }),
    { numRuns: 2_000 },
  );
});
