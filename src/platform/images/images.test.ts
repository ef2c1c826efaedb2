import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { localStorage } from '../storage/local.ts';
import {
  avatarImage,
  headerImage,
  type ImageKind,
  ImageProblem,
  type ImageReason,
  ImagesBusy,
  iconImage,
  isImageComplete,
  logoImage,
  namesOf,
  placeholders,
  removeImage,
  renderImage,
} from './images.ts';
import { Renderers, type RenderRequest } from './renderers.ts';

const folder = mkdtempSync(join(tmpdir(), 'modstead-images-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const storage = localStorage(join(folder, 'files'));
const logo = logoImage(640, 360);
let count = 0;

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 40, b: 40 } } });

/** Renders the bytes and returns the files of the folder. */
async function rendered(source: Buffer, kind: ImageKind): Promise<Record<string, Buffer>> {
  const [key, target] = [`incoming/${++count}`, `images/${count}`];
  await storage.put(key, source);
  await renderImage(storage, key, target, kind);
  const files: Record<string, Buffer> = {};
  for await (const each of storage.list(`${target}/`))
    files[each.slice(target.length + 1)] = Buffer.concat(await (await storage.open(each))!.stream.toArray());
  return files;
}

const refused = (work: Promise<unknown>, reason: ImageReason) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof ImageProblem, String(error));
    assert.equal(error.reason, reason);
    return true;
  });

const sizesOf = async (files: Record<string, Buffer>) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(files).map(async ([name, bytes]) => {
        const { format, width, height } = await sharp(bytes).metadata();
        return [name, `${format} ${width}x${height}`];
      }),
    ),
  );

test('PNG, JPEG, GIF and WebP become PNGs in exactly the sizes of their kind', async () => {
  for (const source of [
    await picture(1000, 1000).png().toBuffer(),
    await picture(1000, 1000).jpeg().toBuffer(),
    await picture(1000, 1000).gif().toBuffer(),
    await picture(1000, 1000).webp().toBuffer(),
  ]) {
    assert.deepEqual(await sizesOf(await rendered(source, logo)), {
      'original.png': 'png 1000x1000',
      'thumb_320x180.png': 'png 320x180',
      'thumb_640x360.png': 'png 640x360',
      'thumb_1280x720.png': 'png 1280x720',
    });
  }
  const source = await picture(400, 120).png().toBuffer();
  assert.deepEqual(await sizesOf(await rendered(source, headerImage)), { 'original.png': 'png 400x120' });
  assert.deepEqual(await sizesOf(await rendered(source, iconImage)), {
    'original.png': 'png 400x120',
    'thumb_64x64.png': 'png 64x64',
    'thumb_128x128.png': 'png 128x128',
    'thumb_256x256.png': 'png 256x256',
  });
  assert.deepEqual(await sizesOf(await rendered(await picture(1, 1).png().toBuffer(), avatarImage)), {
    'original.png': 'png 1x1',
    'thumb_50x50.png': 'png 50x50',
    'thumb_100x100.png': 'png 100x100',
  });
});

test('the location of a photograph, its colour profile and its comments are removed', async () => {
  const source = await picture(640, 360)
    .withExif({ IFD0: { Copyright: 'CANARY' }, IFD3: { GPSLatitude: '51/1 30/1 3230/100', GPSLatitudeRef: 'N' } })
    .withIccProfile('p3')
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">CANARY</x:xmpmeta>')
    .jpeg()
    .toBuffer();
  assert.ok(source.includes('CANARY'));
  for (const bytes of Object.values(await rendered(source, logo))) {
    const { exif, icc, xmp, iptc } = await sharp(bytes).metadata();
    assert.deepEqual([exif, icc, xmp, iptc], [undefined, undefined, undefined, undefined]);
    assert.ok(!bytes.includes('CANARY'));
  }
});

test('a photograph in portrait format stays upright, although its orientation tag is removed', async () => {
  const source = await picture(360, 640).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const files = await rendered(source, logo);
  assert.equal((await sizesOf(files))['original.png'], 'png 640x360');
});

test('only the first frame of an animation stays', async () => {
  const frames = [await picture(640, 360).png().toBuffer(), await picture(640, 360).negate().png().toBuffer()];
  for (const animation of [
    await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer(),
    await sharp(frames, { join: { animated: true } })
      .webp({ lossless: true })
      .toBuffer(),
  ]) {
    assert.equal((await sharp(animation).metadata()).pages, 2);
    const files = await rendered(animation, logo);
    assert.equal((await sizesOf(files))['original.png'], 'png 640x360');
    const { dominant } = await sharp(files['original.png']).stats();
    assert.ok(dominant.r > dominant.g, 'the first frame is red');
  }
});

test('transparency is preserved, and grey or sixteen-bit pictures are accepted', async () => {
  const clear = sharp({ create: { width: 64, height: 64, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } });
  const { 'original.png': original } = await rendered(await clear.png().toBuffer(), iconImage);
  assert.ok((await sharp(original).metadata()).hasAlpha);
  for (const space of ['b-w', 'grey16', 'rgb16'])
    await rendered(await picture(64, 64).toColourspace(space).png().toBuffer(), iconImage);
  await rendered(await picture(64, 64).toColourspace('cmyk').jpeg().toBuffer(), iconImage);
});

test('data after the end of a picture is removed', async () => {
  const tail = Buffer.from('<html><script>alert(1)</script></html>PK\x03\x04');
  const files = await rendered(Buffer.concat([await picture(64, 64).png().toBuffer(), tail]), iconImage);
  for (const bytes of Object.values(files)) assert.ok(!bytes.includes('script'));
});

test('other formats are not opened, whatever their file names are', async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><script/></svg>');
  const others = [
    svg,
    Buffer.concat([Buffer.from('<?xml version="1.0"?>'), svg]),
    await picture(640, 360).tiff().toBuffer(),
    await picture(640, 360).avif().toBuffer(),
    Buffer.from('%PDF-1.7\n'),
    Buffer.from('BM'),
    Buffer.from('RIFF\0\0\0\0WAVE'),
    Buffer.from('<html>'),
    Buffer.alloc(0),
    Buffer.alloc(100),
  ];
  for (const source of others) await refused(rendered(source, logo), 'type');
});

test('a known signature followed by other data is corrupt', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"/>';
  const jpeg = await sharp({
    create: {
      width: 640,
      height: 360,
      channels: 3,
      background: 'red',
      noise: { type: 'gaussian', mean: 99, sigma: 9 },
    },
  })
    .jpeg()
    .toBuffer();
  const sources = [
    jpeg.subarray(0, jpeg.length / 2),
    (await picture(640, 360).png().toBuffer()).subarray(0, 100),
    Buffer.from(`GIF89a=0;${svg}`),
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.from(svg)]),
    Buffer.from('RIFF\xff\0\0\0WEBPVP8 ', 'latin1'),
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  ];
  for (const source of sources) await refused(rendered(source, logo), 'corrupt');
});

test('a picture below the minimum width or height of its kind is too small', async () => {
  await refused(rendered(await picture(639, 360).png().toBuffer(), logo), 'too-small');
  await refused(rendered(await picture(640, 359).png().toBuffer(), logo), 'too-small');
  await refused(rendered(await picture(63, 64).png().toBuffer(), iconImage), 'too-small');
  await refused(rendered(await picture(400, 99).png().toBuffer(), headerImage), 'too-small');
  await rendered(await picture(512, 288).png().toBuffer(), logoImage(512, 288));
});

test('a small file that declares four thousand megapixels is refused by its header', async () => {
  // It has no pixels, so a decoder would call it corrupt.
  await refused(rendered(pngOf(65_535, 65_535), logo), 'too-large');
});

test('a picture larger than any screen is scaled down, so that it does not grow tenfold on disk', async () => {
  const files = await rendered(await picture(7_000, 3_500).jpeg().toBuffer(), logo);
  assert.equal((await sizesOf(files))['original.png'], 'png 4096x2048');
});

test('a folder is complete with all of its files, and can be removed', async () => {
  await storage.put('incoming/whole', await picture(64, 64).png().toBuffer());
  await renderImage(storage, 'incoming/whole', 'images/whole', iconImage);
  assert.ok(await isImageComplete(storage, 'images/whole', iconImage));
  await storage.remove('images/whole/thumb_64x64.png');
  assert.ok(!(await isImageComplete(storage, 'images/whole', iconImage)));
  await removeImage(storage, 'images/whole');
  assert.equal(await storage.stat('images/whole/original.png'), undefined);
});

test('placeholders exist in every size of every kind, and are small', async () => {
  let bytes = 0;
  for (const kind of [logo, iconImage, headerImage, avatarImage]) {
    for (const name of namesOf(kind)) {
      const { stream } = (await placeholders.open(`${kind.name}/${name}.png`))!;
      const png = Buffer.concat(await stream.toArray());
      const { width, height } = await sharp(png).metadata();
      if (name !== 'original') assert.equal(name, `thumb_${width}x${height}`);
      bytes += png.length;
    }
  }
  assert.ok(bytes < 60_000);
});

const asked = (folder: string): RenderRequest => ({ folder, min: iconImage.min, thumbs: [] });

test('a worker that takes too long is killed and replaced', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const renderers = new Renderers({ timeMs: 300, workersMax: 1, program: program('slow', STUCK) });
  assert.deepEqual(await renderers.render(asked('good')), []);
  let isKilled = false;
  const killed = refused(renderers.render(asked('bad')), 'too-large').finally(() => {
    isKilled = true;
  });
  while (!isKilled) {
    t.mock.timers.tick(300);
    await turn();
  }
  await killed;
  assert.deepEqual(await renderers.render(asked('good')), []);
});

test('a worker that crashes or exhausts its memory does not affect the service', async () => {
  const renderers = new Renderers({ workersMax: 1, program: program('crash', CRASH) });
  await refused(renderers.render(asked('bad')), 'corrupt');
  assert.deepEqual(await renderers.render(asked('good')), []);
  await refused(renderers.render(asked('worse')), 'too-large');
  assert.deepEqual(await renderers.render(asked('good')), []);
});

test('a worker that cannot start is an error of the service, not of the picture', async () => {
  const renderers = new Renderers({ program: program('broken', '', "throw new Error('no sharp for this machine')") });
  await assert.rejects(renderers.render(asked('bad')), (error: Error) => {
    assert.ok(!(error instanceof ImageProblem));
    assert.match(String(error.cause), /no sharp for this machine/);
    return true;
  });
});

test('a file that cannot be read or written is an error of the service, too', async () => {
  await assert.rejects(new Renderers().render(asked(join(folder, 'not-there'))), (error: Error) => {
    assert.ok(!(error instanceof ImageProblem));
    assert.match(JSON.stringify(error.cause), /ENOENT/);
    return true;
  });
});

test('only a limited number of pictures wait for a worker', async () => {
  const renderers = new Renderers({ workersMax: 1, queueMax: 2, program: program('queue', '') });
  const work = Array.from({ length: 3 }, () => renderers.render(asked('good')));
  await assert.rejects(renderers.render(asked('good')), ImagesBusy);
  assert.equal(renderers.workers, 1);
  assert.deepEqual(await Promise.all(work), [[], [], []]);
});

test('an idle worker is ended', async () => {
  const renderers = new Renderers({ idleMs: 50, program: program('idle', '') });
  await renderers.render(asked('good'));
  assert.equal(renderers.workers, 1);
  while (renderers.workers > 0) await delay(20);
  assert.deepEqual(await renderers.render(asked('good')), []);
});

/** A worker program with the behaviour under test. */
function program(name: string, body: string, beginning = ''): string {
  const file = join(folder, `${name}.mjs`);
  const listen = `process.on('message', (request) => { ${body}; process.send({ images: [] }) });`;
  writeFileSync(file, `${beginning};${listen}process.on('disconnect', () => process.exit());process.send('ready');`);
  return file;
}

const STUCK = "if (request.folder === 'bad') for (;;);";
const CRASH =
  "if (request.folder === 'bad') process.abort(); if (request.folder === 'worse') process.kill(process.pid, 'SIGKILL')";

/** A valid PNG header without the pixels. */
function pngOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const chunks = [chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc(1_000))), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
