import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { MEGAPIXELS_MAX, type Size, thumbName } from './kinds.ts';
import type { ImageReason } from './problem.ts';
import type { RenderRequest, WorkerAnswer } from './renderers.ts';

// The program that decodes untrusted pictures, in a process of its own that may be killed at any time.

const PIXELS_MAX = MEGAPIXELS_MAX * 1_000_000;
/** A photograph of many megapixels grows tenfold as PNG, and nobody needs it in that size. */
const SIDE_MAX = 4_096;
const RESIDENT_BYTES_MAX = 768 * 1024 * 1024;
const WATCH_MS = 50;

sharp.concurrency(1);
sharp.cache(false);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadNsgifBuffer',
    'VipsForeignLoadWebpBuffer',
  ],
});

const decoding = { failOn: 'error', limitInputPixels: PIXELS_MAX } as const;

type Pictures = Map<string, Buffer>;

/** Only errors in this function can be the fault of the bytes. */
async function render(source: Buffer, { min, thumbs }: RenderRequest): Promise<Pictures | ImageReason> {
  const { autoOrient } = await sharp(source, decoding).metadata();
  if (autoOrient.width < min.width || autoOrient.height < min.height) return 'too-small';
  // Decoded once, to the raw pixels of the first frame, which drops everything else in the file.
  const { data, info } = await sharp(source, decoding)
    .autoOrient()
    .resize({ width: SIDE_MAX, height: SIDE_MAX, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const pixels = () => sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
  const cut = ({ width, height }: Size) => pixels().resize({ width, height, fit: 'cover' });
  const pictures: Pictures = new Map([['original.png', await pixels().png().toBuffer()]]);
  for (const thumb of thumbs) pictures.set(`${thumbName(thumb)}.png`, await cut(thumb).png().toBuffer());
  return pictures;
}

const reasonOf = (error: unknown): ImageReason =>
  /pixel limit|too large|out of memory/i.test(String(error)) ? 'too-large' : 'corrupt';

async function answerTo(request: RenderRequest): Promise<WorkerAnswer> {
  const source = await readFile(join(request.folder, 'source'));
  const pictures = await render(source, request).catch(reasonOf);
  if (typeof pictures === 'string') return { problem: pictures };
  for (const [name, bytes] of pictures) await writeFile(join(request.folder, name), bytes);
  return { images: [...pictures.keys()] };
}

const failureOf = (error: unknown): WorkerAnswer => ({ failure: String(error) });
const answer = (message: WorkerAnswer) => process.send?.(message);

process.on('message', (request: RenderRequest) => void answerTo(request).catch(failureOf).then(answer));
process.on('disconnect', () => process.exit());
// A terminal sends Ctrl-C to the whole process group, but the service must finish its running requests.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
// Pixels are outside of the JavaScript heap, so no option of Node.js limits them.
setInterval(() => process.memoryUsage.rss() > RESIDENT_BYTES_MAX && process.kill(process.pid, 'SIGKILL'), WATCH_MS);
answer('ready');
