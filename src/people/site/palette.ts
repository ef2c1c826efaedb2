/** A scheme’s accent as text and fill, what is written on it, and a background in its tint. */
export interface Accents {
  readonly accent: string;
  readonly accent_ink: string;
  readonly accent_soft: string;
}

export interface Palette {
  readonly light: Accents;
  readonly dark: Accents;
}

/** The accent of `site/src/tokens.css`, which has its other colours, too. */
export const OWN_ACCENT = '#1f5fbf';
export const OWN_PALETTE: Palette = {
  light: { accent: OWN_ACCENT, accent_ink: '#ffffff', accent_soft: '#e3edfb' },
  dark: { accent: '#7fb2ff', accent_ink: '#0c1a30', accent_soft: '#1d2d48' },
};

/** What accents are shown on, and the texts on a tinted background: `site/src/tokens.css`. */
export const SURFACES = {
  light: { backgrounds: ['#f6f7f9', '#ffffff', '#eef0f4'], texts: ['#171b22', '#525c6b'] },
  dark: { backgrounds: ['#11141a', '#191d25', '#232833'], texts: ['#e9ecf1', '#a2acbb'] },
} as const;

/** WCAG 2.2, 1.4.3: level AA for text of any size. */
export const CONTRAST_MIN = 4.5;

const INKS = { light: '#ffffff', dark: '#0c1220' };
const SOFT = { light: { lightness: 0.945, chroma: 0.028 }, dark: { lightness: 0.29, chroma: 0.05 } };
const STEP = 0.005;

/** Colours with the hue of the accent that are readable in each scheme, whichever accent is chosen. */
export const paletteOf = (accent: string): Palette =>
  accent === OWN_ACCENT ? OWN_PALETTE : { light: accentsIn('light', accent), dark: accentsIn('dark', accent) };

function accentsIn(scheme: 'light' | 'dark', chosen: string): Accents {
  const { lightness, chroma, hue } = oklchOf(chosen);
  const soft = hexOf({ ...SOFT[scheme], chroma: Math.min(chroma, SOFT[scheme].chroma), hue });
  const behind = [...SURFACES[scheme].backgrounds, soft];
  const isReadable = (colour: string) => behind.every((other) => contrast(colour, other) >= CONTRAST_MIN);
  let accent = chosen;
  // Black and white are readable on every background of their scheme, so this ends.
  for (let moved = lightness; !isReadable(accent); accent = hexOf({ lightness: moved, chroma, hue }))
    moved = Math.min(1, Math.max(0, moved + (scheme === 'light' ? -STEP : STEP)));
  return { accent, accent_ink: INKS[scheme], accent_soft: soft };
}

/** The ratio of WCAG 2.2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

type Triple = readonly [number, number, number];

const luminance = (colour: string): number => {
  const [red, green, blue] = linearOf(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const linearOf = (colour: string): Triple => {
  const part = (at: number) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
};

/** Björn Ottosson, “A perceptual color space for image processing” (CSS Color 4, 9.3): equal steps look equal. */
interface Oklch {
  readonly lightness: number;
  readonly chroma: number;
  readonly hue: number;
}

function oklchOf(colour: string): Oklch {
  const [red, green, blue] = linearOf(colour);
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const b = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return {
    lightness: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    chroma: Math.hypot(a, b),
    hue: Math.atan2(b, a),
  };
}

function linearFrom({ lightness, chroma, hue }: Oklch): Triple {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

const ROUNDING = 0.001;
const isShowable = (parts: Triple) => parts.every((part) => part >= -ROUNDING && part <= 1 + ROUNDING);

/** A colour that screens cannot show loses chroma until they can. */
function hexOf(colour: Oklch): string {
  let { chroma } = colour;
  while (chroma > 0 && !isShowable(linearFrom({ ...colour, chroma }))) chroma = Math.max(0, chroma - STEP);
  const parts = linearFrom({ ...colour, chroma }).map((part) => {
    const bounded = Math.min(1, Math.max(0, part));
    const value = bounded <= 0.0031308 ? bounded * 12.92 : 1.055 * bounded ** (1 / 2.4) - 0.055;
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${parts.join('')}`;
}
