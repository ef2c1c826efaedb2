import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import {
  avatarImage,
  headerImage,
  type ImageKind,
  iconImage,
  logoImage,
  type Size,
  thumbName,
} from '../src/platform/images/kinds.ts';

const help = `node tools/placeholders.ts

Draws the placeholder images in src/platform/images/placeholders/.`;

const folder = 'src/platform/images/placeholders';
const night = '#1d2733';
const hill = '#33465a';
const ridge = '#27364a';
const moon = '#5d7690';

/** A landscape in a box of this size; cropping its sides loses nothing important. */
const landscape = ({ width, height }: Size) => {
  const x = (part: number) => Math.round(width / 2 + part * height);
  const y = (part: number) => Math.round(part * height);
  const hills = (points: [number, number][]) =>
    `M0 ${height} L0 ${y(points[0]![1])} ${points.map(([px, py]) => `L${x(px)} ${y(py)}`).join(' ')} L${width} ${y(points.at(-1)![1])} L${width} ${height} Z`;
  const back = hills([
    [-0.55, 0.78],
    [-0.2, 0.45],
    [0.05, 0.7],
    [0.3, 0.5],
    [0.6, 0.8],
  ]);
  const front = hills([
    [-0.4, 0.84],
    [-0.12, 0.66],
    [0.12, 0.82],
    [0.4, 0.72],
    [0.7, 0.86],
  ]);
  return `<circle cx="${x(0.16)}" cy="${y(0.3)}" r="${y(0.085)}" fill="${moon}"/>
    <path d="${back}" fill="${ridge}"/><path d="${front}" fill="${hill}"/>`;
};

const person = ({ width, height }: Size) =>
  `<circle cx="${width / 2}" cy="${height * 0.4}" r="${height * 0.17}" fill="${moon}"/>
   <ellipse cx="${width / 2}" cy="${height * 0.95}" rx="${width * 0.32}" ry="${height * 0.32}" fill="${hill}"/>`;

async function draw(kind: ImageKind, name: string, size: Size): Promise<void> {
  const { width, height } = size;
  const scene = kind.name === 'avatar' ? person(size) : landscape(size);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <rect width="${width}" height="${height}" fill="${night}"/>${scene}</svg>`;
  const png = await sharp(Buffer.from(svg))
    .png({ palette: true, colours: 32, compressionLevel: 9, effort: 10 })
    .toBuffer();
  mkdirSync(join(folder, kind.name), { recursive: true });
  writeFileSync(join(folder, kind.name, `${name}.png`), png);
}

async function main(): Promise<void> {
  const originals: [ImageKind, Size][] = [
    [logoImage(1, 1), { width: 1280, height: 720 }],
    [iconImage, { width: 256, height: 256 }],
    [headerImage, { width: 1200, height: 300 }],
    [avatarImage, { width: 200, height: 200 }],
  ];
  for (const [kind, original] of originals) {
    await draw(kind, 'original', original);
    for (const thumb of kind.thumbs) await draw(kind, thumbName(thumb), thumb);
  }
}

if (process.argv.includes('--help')) console.log(help);
else await main();
