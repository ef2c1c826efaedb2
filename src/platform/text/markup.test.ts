// Runs alone: it measures how long the thread of its process works.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { leastCpuMs, relativeCpuTime } from '../../../test/cpu-time.ts';
import { plainText, sanitised } from './markup.ts';

test('ordinary formatting stays as it is', () => {
  for (const text of [
    'plain words & an ampersand',
    '<p>A <strong>bold</strong> claim<br>and more</p>',
    '<ul><li>one</li><li>two</li></ul>',
    '<img src="https://example.com/a.png" alt="A shot">',
  ])
    assert.equal(sanitised(text), text);
});

test('links get a rel and lose every other attribute', () => {
  assert.equal(
    sanitised('<a href="https://example.com/?a=1&amp;b=2" onclick="x()" target=_blank>here</a>'),
    '<a href="https://example.com/?a=1&amp;b=2" rel="nofollow noopener noreferrer">here</a>',
  );
});

const ATTACKS = [
  '<script>alert(1)</script>',
  '<scr<script>ipt>alert(1)</script>',
  '<SCRIPT SRC=//x></SCRIPT>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://x/a.png" onerror="alert(1)">',
  '<img src="https://x/a.png"onload=alert(1)//">',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href=" java\nscript:alert(1)">x</a>',
  '<a href="https://x" href="javascript:alert(1)">x</a>',
  '<a href=\'https://x"onmouseover="alert(1)\'>x</a>',
  '<a title="><script>alert(1)</script>">x</a>',
  '<svg/onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<style>@import "//x"</style><div style="background:url(javascript:alert(1))">',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<!--><script>alert(1)</script>-->',
  '<img alt="`><script>alert(1)</script>`">',
  '</p><p/onclick=alert(1)>',
  '<img src=x:alert(alt) onerror=eval(src) alt=0',
  '<<b onclick=alert(1)>>',
];

/** Everything between `<` and `>` in the result, which must be of our own making. */
const OURS =
  /^<\/?(?:[a-z][a-z0-9]*)(?: (?:href|src)="(?:https?:\/\/|mailto:)[^"<>\s]*"| (?:title|alt|width|height|rel)="[^"<>]*")*>$/;
const FORBIDDEN = /^<\/?(?:script|style|iframe|svg|math|object|embed|form|link|meta|base)\b/;

function assertSafe(text: string): void {
  const clean = sanitised(text);
  for (const [tag] of clean.matchAll(/<[^>]*>?/g)) {
    assert.match(tag, OURS, text);
    assert.doesNotMatch(tag, FORBIDDEN, text);
  }
  assert.equal(sanitised(clean), clean, text);
}

test('nothing that could run gets through', () => {
  for (const attack of ATTACKS) assertSafe(attack);
});

test('nothing made of the pieces of attacks gets through either, and cleaning twice changes nothing', () => {
  const piece = fc.oneof(
    fc.constantFrom(...ATTACKS),
    fc.constantFrom('<', '>', '"', "'", '=', '/', ' ', 'a', '<a ', '<img ', 'href=', 'src=', 'https://x', '&', 'İ'),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => assertSafe(pieces.join(''))),
    { numRuns: 2_000 },
  );
});

test('what is opened is closed, and nothing overlaps', () => {
  assert.equal(sanitised('<b><i>x</b>y'), '<b><i>x</i></b>y');
  assert.equal(sanitised('</div><p>x'), '<p>x</p>');
});

test('plain text has no markup, and entities as the characters they mean', () => {
  assert.equal(plainText('<p>A &lt;b&gt; &amp;amp; c</p><p>d<br>e</p>'), 'A <b> &amp; c\n\nd\ne');
  assert.equal(plainText(sanitised('<script>x</script>1 < 2')), '1 < 2');
});

test('the longest description takes no longer for being malicious', async () => {
  const bound = 500 * relativeCpuTime();
  for (const piece of [
    '<',
    '<a ',
    '<a "',
    '<a \'"',
    '<script>',
    '<a href="',
    '<b>',
    '<img a=',
    '</script',
    '&',
    '<!--',
  ])
    for (const end of ['', '>']) {
      const text = piece.repeat(50_000 / piece.length) + end;
      const least = await leastCpuMs(bound, async () => void plainText(sanitised(text)));
      assert.ok(least < bound, `${piece}${end}: ${least} ms of the processor`);
    }
});
