import { createHash } from 'node:crypto';
import type { Size } from '../platform/images/kinds.ts';

const WIDTH = 640;
const HEIGHT = 360;

interface Chance {
  /** A whole number from the first to the last one. */
  between(first: number, last: number): number;
  oneOf<T>(all: readonly T[]): T;
}

interface Palette {
  /** From the top of the sky to the horizon. */
  readonly sky: readonly [string, string];
  /** From the farthest layer of the ground to the nearest. */
  readonly ground: readonly [string, string, string];
  readonly light: string;
  readonly accent: string;
}

const PALETTES: readonly Palette[] = [
  { sky: ['#16224d', '#e58a6b'], ground: ['#8d5a78', '#54406d', '#241f45'], light: '#ffd9a0', accent: '#ff7a59' },
  { sky: ['#2a6fb8', '#cfeaf5'], ground: ['#7fb7c9', '#4c8aa3', '#22506b'], light: '#fffbe6', accent: '#f2b544' },
  { sky: ['#0b2b33', '#46b39d'], ground: ['#2f8577', '#1d5c58', '#0d3438'], light: '#d8ffe9', accent: '#f4d35e' },
  { sky: ['#3a1152', '#ff5c8d'], ground: ['#a1336f', '#6a1f5f', '#2c0e3d'], light: '#ffe3f0', accent: '#35e0ff' },
  { sky: ['#10131f', '#3c4f78'], ground: ['#34456b', '#222e4c', '#121829'], light: '#e8efff', accent: '#8fe388' },
  { sky: ['#7a2f1d', '#f7c873'], ground: ['#c4793a', '#8c4a26', '#4a2516'], light: '#fff3cf', accent: '#2d9c9c' },
  { sky: ['#1d3b2a', '#c7d98b'], ground: ['#7fa05a', '#4d7743', '#23452d'], light: '#fdffe0', accent: '#e4572e' },
  { sky: ['#4b5d8a', '#f3d1dc'], ground: ['#a58fb0', '#6f6490', '#3a3a63'], light: '#ffffff', accent: '#ffb703' },
];

/** What stands in the middle of a picture, drawn around the origin with a radius of about 80. */
type Motif = (palette: Palette) => string;

const polygon = (corners: number, radius: number, turn = 0) =>
  Array.from({ length: corners }, (_, index) => {
    const angle = (Math.PI * 2 * index) / corners + turn;
    return `${(Math.cos(angle) * radius).toFixed(1)},${(Math.sin(angle) * radius).toFixed(1)}`;
  }).join(' ');

const airship: Motif = ({ light, accent, ground }) =>
  `<ellipse cy="-20" rx="92" ry="38" fill="${accent}"/><path d="M-92-20A92 38 0 0 0 92-20Z" fill="${ground[2]}" opacity=".35"/>
  <path d="M72-30l38-26v72l-38-26z" fill="${ground[1]}"/><path d="M-30 16L-22 40M30 16L22 40" stroke="${light}" stroke-width="4"/>
  <path d="M-44 38H44L30 62H-30Z" fill="${light}"/><path d="M-30 46h10v8h-10zm16 0h10v8h-10zm16 0h10v8h-10z" fill="${ground[2]}"/>`;

const island: Motif = ({ light, accent, ground }) =>
  `<path d="M-96 10H96L40 62L12 96L-20 70L-64 44Z" fill="${ground[2]}"/><path d="M-96 10Q-40-12 0-4T96 10Q40 30-96 10Z" fill="${accent}"/>
  <path d="M-40 4V-44h26V4M-46-44h38l-19-30z" fill="${light}"/><circle cx="38" cy="-26" r="24" fill="${ground[1]}"/><path d="M35-10h6v16h-6z" fill="${ground[2]}"/>`;

const crystal: Motif = ({ light, accent, ground }) =>
  `<path d="M0-96L46-24L24 76H-24L-46-24Z" fill="${accent}"/><path d="M0-96L14-20L6 76H-24L-46-24Z" fill="${light}" opacity=".45"/>
  <path d="M58-10L84 22L70 76H40L36 26Z" fill="${accent}" opacity=".8"/><path d="M-60 6L-40 30L-44 76H-72L-84 34Z" fill="${ground[1]}"/>`;

const gear: Motif = ({ light, accent, ground }) =>
  `${Array.from({ length: 8 }, (_, index) => `<path d="M-15-92h30l6 32h-42z" transform="rotate(${index * 45})" fill="${accent}"/>`).join('')}
  <circle r="68" fill="${accent}"/><circle r="50" fill="${ground[2]}"/><polygon points="${polygon(6, 30)}" fill="${light}"/>`;

const shield: Motif = ({ light, accent, ground }) =>
  `<path d="M-72-72Q0-104 72-72V0Q64 62 0 96Q-64 62-72 0Z" fill="${light}"/><path d="M-56-60Q0-84 56-60V0Q50 50 0 76Q-50 50-56 0Z" fill="${ground[2]}"/>
  <polygon points="${starPoints(5, 44, 19)}" fill="${accent}"/>`;

const compass: Motif = ({ light, accent, ground }) =>
  `<circle r="88" fill="${light}"/><circle r="74" fill="${ground[2]}"/><polygon points="${starPoints(4, 70, 15)}" fill="${light}" opacity=".6"/>
  <g transform="rotate(28)"><path d="M0-62L14 0H-14Z" fill="${accent}"/><path d="M0 62L14 0H-14Z" fill="${light}"/></g>`;

const road: Motif = ({ light, accent, ground }) =>
  `<path d="M-22-70H22L120 130H-120Z" fill="${ground[2]}"/><path d="M-22-70L-120 130M22-70L120 130" stroke="${accent}" stroke-width="7"/>
  <path d="M-2-60h4l2 26h-8zm-3 46h10l3 36h-16zm-5 60h20l4 46h-28z" fill="${light}"/>`;

const racer: Motif = ({ light, accent, ground }) =>
  `<path d="M-100 30L-84-4L-34-14L-6-46H52L84-8L104 4V34H-100Z" fill="${accent}"/><path d="M-20-14L2-38H44L64-12Z" fill="${light}" opacity=".85"/>
  <path d="M-100 22H104V34H-100Z" fill="${ground[2]}"/><circle cx="-58" cy="34" r="25" fill="${ground[2]}"/><circle cx="62" cy="34" r="25" fill="${ground[2]}"/>
  <circle cx="-58" cy="34" r="11" fill="${light}"/><circle cx="62" cy="34" r="11" fill="${light}"/>`;

const loop: Motif = ({ light, accent, ground }) =>
  [
    [ground[2], 40],
    [accent, 26],
    [light, 4],
  ]
    .map(
      ([colour, width]) =>
        `<path d="M-84 10C-84-60-18-60 0 0S84 60 84-10S18-60 0 0S-84 70-84 10Z" fill="none" stroke="${colour}" stroke-width="${width}"/>`,
    )
    .join('');

const flag: Motif = ({ light, accent, ground }) =>
  `<path d="M-74-92h9V96h-9z" fill="${light}"/><path d="M-65-84H85V24H-65Z" fill="${light}"/>
  ${Array.from({ length: 12 }, (_, index) => `<path d="M${-65 + (index % 4) * 37.5} ${-84 + Math.floor(index / 4) * 36}h37.5v36h-37.5z" fill="${(index + Math.floor(index / 4)) % 2 ? ground[2] : accent}"/>`).join('')}`;

const leaf: Motif = ({ light, accent, ground }) =>
  `<path d="M0-96C70-50 70 30 0 84C-70 30-70-50 0-96Z" fill="${accent}"/><path d="M0-96C70-50 70 30 0 84Z" fill="${ground[1]}" opacity=".5"/>
  <path d="M0-70V100M0-20L30-44M0-20L-30-44M0 24L36-4M0 24L-36-4" stroke="${light}" stroke-width="5" fill="none"/>`;

const arch: Motif = ({ light, accent, ground }) =>
  `<path d="M-88 90V-10A88 88 0 0 1 88-10V90Z" fill="${light}" opacity=".9"/><path d="M-70 90V-10A70 70 0 0 1 70-10V90Z" fill="${ground[1]}"/>
  <path d="M-4-80h8V90h-8zM-70-8H70v7H-70zM-70 40H70v7H-70z" fill="${light}" opacity=".9"/><circle cy="16" r="20" fill="${accent}"/>`;

function starPoints(rays: number, outer: number, inner: number): string {
  const far = polygon(rays, outer, -Math.PI / 2).split(' ');
  const near = polygon(rays, inner, -Math.PI / 2 + Math.PI / rays).split(' ');
  return far.flatMap((point, index) => [point, near[index]!]).join(' ');
}

/** The first motif is the one of the game itself. */
const MOTIFS = {
  sky: [airship, island, compass, crystal, shield, gear],
  race: [racer, road, loop, flag, gear],
  garden: [arch, leaf, crystal],
} satisfies Record<string, readonly [Motif, ...Motif[]]>;

export type Scenery = keyof typeof MOTIFS;

export interface Drawing {
  readonly seed: string;
  readonly scenery: Scenery;
  /** With the motif of the game, instead of one that the seed chooses. */
  readonly ofGame?: boolean;
}

/**
 * A landscape with a motif, as SVG, cut to this size. The same seed gives the same picture. It has no text, because
 * fonts differ between machines.
 */
export function svgOf({ seed, scenery, ofGame = false }: Drawing, { width, height }: Size): string {
  const chance = chanceOf(seed);
  const palette = chance.oneOf(PALETTES);
  const draw = ofGame ? MOTIFS[scenery][0] : chance.oneOf<Motif>(MOTIFS[scenery]);
  const scale = chance.between(95, 130) / 100;
  const at = `${chance.between(270, 370)} ${chance.between(155, 195)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="xMidYMid slice">
<linearGradient id="sky" x2="0" y2="1"><stop stop-color="${palette.sky[0]}"/><stop offset="1" stop-color="${palette.sky[1]}"/></linearGradient>
<path d="M0 0H${WIDTH}V${HEIGHT}H0Z" fill="url(#sky)"/>${sunOf(chance, palette)}${groundOf(chance, palette)}
<g transform="translate(${at}) scale(${scale})">${draw(palette)}</g></svg>`;
}

function sunOf({ between }: Chance, { light }: Palette): string {
  const at = `cx="${between(60, 580)}" cy="${between(50, 150)}"`;
  const radius = between(26, 52);
  const stars = Array.from(
    { length: 14 },
    () => `<circle cx="${between(0, 640)}" cy="${between(0, 170)}" r="${between(1, 3)}"/>`,
  );
  return `<g fill="${light}"><g opacity=".6">${stars.join('')}</g><circle ${at} r="${radius * 2}" opacity=".18"/><circle ${at} r="${radius}" opacity=".9"/></g>`;
}

function groundOf({ between }: Chance, { ground }: Palette): string {
  const layers = ground.map((colour, layer) => {
    const base = 210 + layer * 50;
    const line = Array.from({ length: 5 }, (_, step) => `T${(step + 1) * 128} ${base + between(-38, 30)}`);
    return `<path d="M0 360V${base}Q64 ${base + between(-50, 30)} 128 ${base}${line.slice(1).join('')}V360Z" fill="${colour}"/>`;
  });
  return layers.join('');
}

function chanceOf(seed: string): Chance {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0) || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
  return {
    between: (first, last) => first + Math.floor(next() * (last - first + 1)),
    oneOf: (all) => all[Math.floor(next() * all.length)]!,
  };
}
