import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import sharp from 'sharp';
import { type Answer, assertRefused, type Client, type ErrorAnswer, type Mod, startApi } from '../../../test/api.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getModEvents } from '../events/operations.ts';
import { getMod } from '../mods/operations.ts';
import { MODERATOR } from '../teams/teams.ts';
import { addModMedia, deleteModMedia, reorderModMedia } from './operations.ts';

// Jobs run only when a test runs them, and complete before it continues.
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_MOD_MEDIA_MB: '1' } });
const worker = composeWorker(api.app());
const game = await api.aGame();
const ada = await api.aUser();
const asAda = await api.as(ada);
const reader = api.withKey(game);

const HOUR = 3_600;
const picture = (background: string, width = 40, height = 30) =>
  sharp({ create: { width, height, channels: 3, background } });
const png = (background: string) => picture(background).png().toBuffer();
const [RED, GREEN, BLUE] = [await png('#ff0000'), await png('#00ff00'), await png('#0000ff')];

interface Part {
  readonly field: string;
  readonly bytes: Buffer | string;
  readonly filename?: string;
}
const file = (field: string, bytes: Buffer | string): Part => ({ field, bytes, filename: 'some.png' });
const text = (field: string, bytes: string): Part => ({ field, bytes });

function multipart(parts: readonly Part[]): Buffer {
  const chunks = parts.flatMap(({ field, filename, bytes }) => [
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${field}"`),
    Buffer.from(filename === undefined ? '\r\n\r\n' : `; filename="${filename}"\r\n\r\n`),
    Buffer.from(bytes as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from('--b--\r\n')]);
}

const send = (client: Client, mod: Mod, ...parts: Part[]): Promise<Answer> =>
  api.request('POST', `/v1/games/${mod.game_id}/mods/${mod.id}/media`, {
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: multipart(parts),
  });

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const aMod = () => api.aMod({ game, owner: ada });
const mediaOf = async (mod: Mod) => (await reader.call(getMod, { params: at(mod) })).body.media;
const namesOf = async (mod: Mod) => (await mediaOf(mod)).images.map(({ filename }) => filename);
const fieldsOf = (answer: Answer) => Object.keys((answer as Answer<ErrorAnswer>).body.error.errors!);

interface Packed {
  readonly name: string;
  readonly bytes: Buffer;
  readonly stored?: boolean;
  /** Wrong values in the central directory. */
  readonly wrong?: { bytes?: number; crc?: number; offset?: number; flags?: number };
}

function zip(...files: Packed[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, stored = false, wrong = {} } of files) {
    const packed = stored ? bytes : deflateRawSync(bytes);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(wrong.flags ?? 0, 2);
    about.writeUInt16LE(stored ? 0 : 8, 4);
    about.writeUInt32LE(wrong.crc ?? crc32(bytes), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(wrong.bytes ?? bytes.length, 18);
    about.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), about, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(wrong.offset ?? offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), about, place, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from('PK\x05\x06'), end]);
}

test('images are sent one by one under any number and in a zip; equal ones are stored once', async () => {
  const mod = await aMod();
  const inZip = zip(
    { name: 'shots/', bytes: Buffer.alloc(0), stored: true },
    { name: 'shots/blue.png', bytes: BLUE },
    { name: '../../red.png', bytes: RED, stored: true },
    { name: '__MACOSX/._blue.png', bytes: Buffer.from('nothing') },
  );
  const answer = await send(asAda, mod, file('image0', RED), file('image17', GREEN), file('images', inZip));
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(Object.keys(answer.body as object), ['code', 'message']);
  const { images } = await mediaOf(mod);
  assert.equal(images.length, 3);
  for (const [index, side] of [
    [0, 'original'],
    [1, 'thumb_320x180'],
    [2, 'thumb_1280x720'],
  ] as const) {
    const address = new URL(images[index]![side]);
    const key = address.pathname.slice('/files/'.length);
    const stored = await api.app().storage.open(key);
    const { width, height, format, exif } = await sharp(
      Buffer.concat(await Array.fromAsync(stored!.stream)),
    ).metadata();
    const wanted = side === 'original' ? [40, 30] : side.slice('thumb_'.length).split('x').map(Number);
    assert.deepEqual([width, height, format, exif], [...wanted, 'png', undefined]);
    const served = await api.request('GET', address.pathname);
    assert.deepEqual(
      [served.status, served.headers['content-type'], served.headers['x-content-type-options']],
      [200, 'image/png', 'nosniff'],
    );
  }
});

test('several images can share a field name, as a list or not', async () => {
  const mod = await aMod();
  assert.equal((await send(asAda, mod, file('images[]', RED), file('images[1]', GREEN))).status, 201);
  assert.equal((await namesOf(mod)).length, 2);
});

test('metadata of an uploaded image is removed', async () => {
  const mod = await aMod();
  const withPlace = await picture('#123456')
    .withExif({ IFD3: { GPSLatitude: '48/1 8/1 0/1' } })
    .jpeg()
    .toBuffer();
  const polyglot = Buffer.concat([withPlace, Buffer.from('<script>alert(1)</script>'), zip({ name: 'a', bytes: RED })]);
  assert.equal((await send(asAda, mod, file('images', polyglot))).status, 201);
  const [image] = (await mediaOf(mod)).images;
  const stored = await api.app().storage.open(new URL(image!.original).pathname.slice('/files/'.length));
  const bytes = Buffer.concat(await Array.fromAsync(stored!.stream));
  assert.ok(!bytes.includes('script') && !bytes.includes('GPS') && !bytes.includes('PK\x05\x06'));
});

test('SVG and other files that are no pictures are refused anywhere in the request, which then stores nothing', async () => {
  const mod = await aMod();
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>');
  const single = await send(asAda, mod, file('image1', RED), file('image2', svg));
  assertRefused(single, 422, 13009);
  assert.deepEqual(fieldsOf(single), ['image2']);
  assertRefused(await send(asAda, mod, file('image1', zip({ name: 'a.png', bytes: RED }))), 422, 13009);
  const zipped = await send(asAda, mod, file('images', zip({ name: 'a.png', bytes: svg })), text('youtube[]', VIDEO));
  assertRefused(zipped, 422, 13009);
  assert.deepEqual(fieldsOf(zipped), ['images']);
  assert.deepEqual(await mediaOf(mod), { youtube: [], sketchfab: [], images: [] });
});

test('a zip whose directory does not match its content is refused as corrupt', async () => {
  const mod = await aMod();
  const broken = [
    zip({ name: 'a.png', bytes: RED, wrong: { crc: 1 } }),
    zip({ name: 'a.png', bytes: RED, wrong: { bytes: RED.length - 1 } }),
    zip({ name: 'a.png', bytes: RED, wrong: { flags: 1 } }),
    zip({ name: 'a.png', bytes: RED }, { name: 'b.png', bytes: RED, wrong: { offset: 0 } }),
    zip({ name: 'a.png', bytes: RED, wrong: { offset: 1_000_000 } }),
    zip({ name: 'a.png', bytes: RED }).subarray(0, -1),
    Buffer.concat([zip({ name: 'a.png', bytes: RED }), Buffer.from('tail')]),
  ];
  for (const each of broken) assertRefused(await send(asAda, mod, file('images', each)), 400, 13001);
  const huge = zip({ name: 'a.png', bytes: Buffer.alloc(9 * 1_024 * 1_024) });
  assertRefused(await send(asAda, mod, file('images', huge)), 422, 13009);
  const left = await Array.fromAsync(api.app().storage.list('incoming/'));
  assert.deepEqual(left, []);
});

const VIDEO = 'https://www.youtube.com/watch?v=IGVZOLV9SPo';
const MODEL = 'https://sketchfab.com/models/71f04e390ff54e5f8d9a51b4e1caab7e';

test('links are accepted in every form that users paste, and stored in one', async () => {
  const mod = await aMod();
  const youtube = [
    VIDEO,
    'http://youtube.com/watch?v=IGVZOLV9SPo&t=10s',
    'https://youtu.be/IGVZOLV9SPo?si=x',
    'https://m.youtube.com/shorts/IGVZOLV9SPo',
    'www.youtube.com/embed/IGVZOLV9SPo',
    'https://www.youtube-nocookie.com/embed/5qap5aO4i9A',
  ];
  const sketchfab = [
    MODEL,
    'https://sketchfab.com/3d-models/fox-in-box-71f04e390ff54e5f8d9a51b4e1caab7e',
    'https://sketchfab.com/models/5f04e390ff54e5f8d9a51b4e1caab71e/embed',
  ];
  assert.equal((await asAda.call(addModMedia, { params: at(mod), body: { youtube, sketchfab } })).status, 201);
  const media = await mediaOf(mod);
  assert.deepEqual(media.youtube, [VIDEO, 'https://www.youtube.com/watch?v=5qap5aO4i9A']);
  assert.deepEqual(media.sketchfab, [MODEL, 'https://sketchfab.com/models/5f04e390ff54e5f8d9a51b4e1caab71e']);
});

test('links that lead to no video or model are refused', async () => {
  const mod = await aMod();
  const videos = [
    'https://evil.example/watch?v=IGVZOLV9SPo',
    'https://www.youtube.com/@channel',
    'javascript:alert(1)',
  ];
  videos.push('https://youtube.com.evil.example/watch?v=IGVZOLV9SPo', 'https://a@youtu.be/IGVZOLV9SPo', MODEL);
  for (const link of videos) {
    const answer = await asAda.refused(addModMedia, { params: at(mod), body: { youtube: [link] } }, 422, 13009);
    assert.deepEqual(fieldsOf(answer), ['youtube']);
  }
  for (const link of ['https://sketchfab.com/anyone', VIDEO, 'https://sketchfab.com/models/short'])
    await asAda.refused(addModMedia, { params: at(mod), body: { sketchfab: [link] } }, 422, 13009);
  await asAda.refused(addModMedia, { params: at(mod), body: { anything: 1 } }, 400, 13008);
});

test('sync replaces all media of each sent kind', async () => {
  const mod = await aMod();
  const other = 'https://www.youtube.com/watch?v=5qap5aO4i9A';
  await send(asAda, mod, file('image1', RED), file('image2', GREEN), text('youtube[]', VIDEO));
  const [red, green] = await namesOf(mod);
  await send(asAda, mod, file('image1', GREEN), file('image2', BLUE), text('sync', 'true'));
  const [first, second, ...none] = await namesOf(mod);
  assert.deepEqual([first, none], [green, []]);
  assert.notEqual(second, red);
  assert.deepEqual((await mediaOf(mod)).youtube, [VIDEO]);
  await asAda.call(addModMedia, { params: at(mod), body: { youtube: [other, VIDEO], sync: 'True' } });
  assert.deepEqual((await mediaOf(mod)).youtube, [other, VIDEO]);
  await asAda.call(addModMedia, { params: at(mod), body: { youtube: [''], sync: true } });
  assert.deepEqual([(await mediaOf(mod)).youtube, (await namesOf(mod)).length], [[], 2]);
});

test('a logo is replaced with the media, and the error names one that is too small', async () => {
  const mod = await aMod();
  const logo = await picture('#777777', 512, 288).png().toBuffer();
  assert.equal((await send(asAda, mod, file('logo', logo), file('image1', RED))).status, 201);
  const { body } = await reader.call(getMod, { params: at(mod) });
  assert.match(body.logo.original!, /\/files\/images\/[0-9a-f]{32}-logo\/original\.png$/);
  assert.equal(body.media.images.length, 1);
  const small = await send(asAda, mod, file('logo', RED));
  assertRefused(small, 422, 13009);
  assert.deepEqual(fieldsOf(small), ['logo']);
  const events = await reader.call(getModEvents, { params: at(mod) });
  assert.equal(events.body.data.filter(({ event_type }) => event_type === 'MOD_EDITED').length, 1);
});

test('media are removed by name, and all of a kind by an empty list', async () => {
  const mod = await aMod();
  await send(
    asAda,
    mod,
    file('image1', RED),
    file('image2', GREEN),
    text('youtube[]', VIDEO),
    text('sketchfab[]', MODEL),
  );
  const [red, green] = await namesOf(mod);
  const remove = (body: Record<string, string[]>) => asAda.call(deleteModMedia, { params: at(mod), body });
  assert.equal(
    (await remove({ images: [red!, 'unheard-of.png'], youtube: ['https://youtu.be/IGVZOLV9SPo'] })).status,
    204,
  );
  const media = await mediaOf(mod);
  assert.deepEqual(
    [media.images.map(({ filename }) => filename), media.youtube, media.sketchfab],
    [[green], [], [MODEL]],
  );
  await remove({ sketchfab: [''] });
  assert.deepEqual((await mediaOf(mod)).sketchfab, []);
  assert.equal((await namesOf(mod)).length, 1);
});

test('reordering must name all media of a kind, and nothing else', async () => {
  const mod = await aMod();
  await send(asAda, mod, file('image1', RED), file('image2', GREEN), file('image3', BLUE), text('youtube[]', VIDEO));
  const [red, green, blue] = (await namesOf(mod)) as [string, string, string];
  const params = at(mod);
  assert.equal((await asAda.call(reorderModMedia, { params, body: { images: [blue, red, green] } })).status, 204);
  assert.deepEqual(await namesOf(mod), [blue, red, green]);
  for (const images of [[blue, red], [blue, red, green, green], [blue, red, 'other.png'], [blue, red, red], ['']])
    await asAda.refused(reorderModMedia, { params, body: { images } }, 400, 15064);
  await asAda.refused(reorderModMedia, { params, body: { images: [red, green, blue], youtube: [MODEL] } }, 400, 15064);
  assert.deepEqual(await namesOf(mod), [blue, red, green]);
});

test('only editors of the mod change its media, and only callers who can see the mod see them', async () => {
  const mod = await aMod();
  const hidden = await api.aMod({ game, owner: ada, visible: 0 });
  const moderator = await api.aUser();
  await api.joinsMod(moderator, mod, MODERATOR);
  await api.joinsMod(moderator, hidden, MODERATOR);
  const [stranger, member] = [await api.as(await api.aUser()), await api.as(moderator)];
  for (const client of [stranger, member]) {
    await client.refused(addModMedia, { params: at(mod), body: { youtube: [VIDEO] } }, 403, 15035);
    assertRefused(await send(client, mod, file('image1', RED)), 403, 15035);
    await client.refused(deleteModMedia, { params: at(mod), body: { youtube: [VIDEO] } }, 403, 15036);
    await client.refused(reorderModMedia, { params: at(mod), body: { youtube: [VIDEO] } }, 403, 15036);
  }
  await member.refused(addModMedia, { params: at(hidden), body: { youtube: [VIDEO] } }, 403, 15035);
  for (const operation of [addModMedia, deleteModMedia, reorderModMedia])
    await stranger.refused(operation, { params: at(hidden), body: { youtube: [VIDEO] } }, 404, 15022);
});

test('a mod has at most fifty images, even with concurrent uploads', async () => {
  const mod = await aMod();
  const shades = Array.from({ length: 54 }, (_, index) => `#0000${(index + 16).toString(16)}`);
  const images = await Promise.all(shades.map(png));
  assertRefused(
    await send(asAda, mod, ...images.slice(0, 51).map((bytes, index) => file(`image${index}`, bytes))),
    400,
    28001,
  );
  const entries = images.slice(0, 48).map((bytes, index) => ({ name: `${index}.png`, bytes }));
  assert.equal((await send(asAda, mod, file('images', zip(...entries)))).status, 201);
  const added = await Promise.all(images.slice(48).map((bytes) => send(asAda, mod, file('image1', bytes))));
  const taken = added.filter(({ status }) => status === 201);
  assert.equal(taken.length, 2);
  for (const answer of added) if (answer.status !== 201) assertRefused(answer, 400, 28001);
  assert.equal((await namesOf(mod)).length, 50);
});

test('the images of a mod are limited to the total size that the operator sets', async () => {
  const mod = await aMod();
  const noise = (seed: number) =>
    sharp(Buffer.from(Array.from({ length: 600 * 400 * 3 }, (_, i) => (i * seed * 7_919) % 251)), {
      raw: { width: 600, height: 400, channels: 3 },
    })
      .png({ compressionLevel: 0 })
      .toBuffer();
  assert.equal((await send(asAda, mod, file('image1', await noise(3)))).status, 201);
  assertRefused(await send(asAda, mod, file('image1', await noise(5))), 400, 28002);
  assert.equal((await send(asAda, mod, file('image1', await noise(5)), text('sync', '1'))).status, 201);
});

test('a picture is removed when the last row that names it is gone, and not before', async () => {
  const [one, two] = [await aMod(), await aMod()];
  const shared = await png('#fedcba');
  for (const mod of [one, two]) await send(asAda, mod, file('image1', shared));
  const [image] = (await mediaOf(one)).images;
  const key = new URL(image!.original).pathname.slice('/files/'.length);
  for (const [mod, isLeft] of [
    [one, true],
    [two, false],
  ] as const) {
    await asAda.call(deleteModMedia, { params: at(mod), body: { images: [image!.filename] } });
    api.clock.advance(2 * HOUR);
    await worker.runDue();
    assert.equal((await api.app().storage.stat(key)) !== undefined, isLeft);
  }
});
