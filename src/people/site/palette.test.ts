import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { CONTRAST_MIN, contrast, OWN_PALETTE, paletteOf, SURFACES } from './palette.ts';

const aColour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('contrast is that of WCAG', () => {
  assert.equal(contrast('#000000', '#ffffff').toFixed(2), '21.00');
  assert.equal(contrast('#767676', '#ffffff').toFixed(2), '4.54');
  assert.equal(contrast('#1f5fbf', '#1f5fbf'), 1);
});

test('whichever colour is chosen, every text and button is readable in light and in dark', () => {
  fc.assert(
    fc.property(aColour, (chosen) => {
      const palette = paletteOf(chosen);
      for (const scheme of ['light', 'dark'] as const) {
        const { accent, accent_ink, accent_soft } = palette[scheme];
        const pairs = [
          ...[...SURFACES[scheme].backgrounds, accent_soft].map((behind) => [accent, behind] as const),
          ...SURFACES[scheme].texts.map((text) => [text, accent_soft] as const),
          [accent_ink, accent] as const,
        ];
        for (const [text, behind] of pairs)
          assert.ok(contrast(text, behind) >= CONTRAST_MIN, `${scheme}: ${text} on ${behind} for ${chosen}`);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a colour that is readable already stays as it is', () => {
  assert.equal(paletteOf('#7a1fa2').light.accent, '#7a1fa2');
  assert.equal(paletteOf('#ffb74d').dark.accent, '#ffb74d');
  assert.notEqual(paletteOf('#ffb74d').light.accent, '#ffb74d');
});

test('the colours of the program are those of its style sheet', () => {
  const tokens = readFileSync('site/src/tokens.css', 'utf8');
  const [light, dark] = tokens.split('@media') as [string, string];
  for (const [scheme, css] of [
    ['light', light],
    ['dark', dark],
  ] as const) {
    const { accent, accent_ink, accent_soft } = OWN_PALETTE[scheme];
    for (const [name, value] of Object.entries({ accent, 'accent-ink': accent_ink, 'accent-soft': accent_soft }))
      assert.ok(css.includes(`--${name}: ${value};`), `${scheme} ${name}`);
    const { backgrounds, texts } = SURFACES[scheme];
    for (const value of [...backgrounds, ...texts]) assert.ok(css.includes(`: ${value};`), `${scheme} ${value}`);
  }
});
