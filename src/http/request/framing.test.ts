import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closed } from './framing.ts';

const OPENING = '\r\n--b\r\n';
const CLOSING = '\r\n--b--\r\n';

/** The same said of the whole body at once. */
function closedWhole(body: string): string {
  const whole = `\r\n${body}`;
  if (body === '') return CLOSING;
  return whole.endsWith(OPENING) ? `${whole.slice(0, -OPENING.length)}${CLOSING}` : whole;
}

test('wherever a body is cut, it is closed as if it came at once', async () => {
  const piece = fc.constantFrom('\r', '\n', '-', 'b', 'x', '\r\n', '--b', OPENING, CLOSING, 'some bytes of a file');
  const bodies = fc.array(
    fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
    { maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (chunks) => {
      const source = (async function* () {
        for (const chunk of chunks) yield Buffer.from(chunk);
      })();
      const found = await Array.fromAsync(closed(source, 'b'), String);
      assert.equal(found.join(''), closedWhole(chunks.join('')));
    }),
    { numRuns: 2_000 },
  );
});
