// Runs alone: it starts programs, which end with its process.
// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { getMod, getMods } from '../src/catalogue/mods/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { getModfiles } from '../src/files/modfiles/operations.ts';
import { decideOverContent } from '../src/moderation/moderation/operations.ts';
import { startApi } from './api.ts';
import { codesSentTo } from './browser.ts';
import { findChromium } from './chromium.ts';
import { zipOf } from './zips.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
/** The size of the published mod. The default has two parts; `MODSTEAD_JOURNEY_MB=300` is the long run. */
const MEGABYTES = Number(process.env['MODSTEAD_JOURNEY_MB'] ?? 60);
/** Long enough that only a hang exceeds it, even on a busy machine. */
const HANG_MS = 300_000;
const EVIL = '<img src=x onerror="document.title=`taken`">';

const api = await startApi({ site: builtSite() });
const game = await api.aGame({ name: 'Skyfarers' });
let browser: Browser | undefined;
after(() => browser?.close());

/** A connection to the service that breaks after some bytes, and stays broken until it is repaired. */
class Line {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#carry(socket));
  sent = 0;
  #breaksAt = Number.POSITIVE_INFINITY;
  #isDown = false;

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `https://localhost:${(this.#server.address() as { port: number }).port}`;
  }

  breakAfter(bytes: number): void {
    this.#isDown = false;
    this.#breaksAt = this.sent + bytes;
  }

  repair(): void {
    this.breakAfter(Number.POSITIVE_INFINITY);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #carry(socket: Socket): void {
    if (this.#isDown) return void socket.destroy();
    const service = connect(api.port, '127.0.0.1');
    for (const each of [socket, service]) {
      this.#sockets.add(each);
      each.on('error', () => undefined);
      each.on('close', () => {
        this.#sockets.delete(each);
        socket.destroy();
        service.destroy();
      });
    }
    socket.on('data', ({ length }) => {
      this.sent += length;
      if (this.sent < this.#breaksAt) return;
      this.#isDown = true;
      for (const each of this.#sockets) each.destroy();
    });
    socket.pipe(service);
    service.pipe(socket);
  }
}

async function aPage(): Promise<{ page: Page; problems: string[] }> {
  const args = ['--no-sandbox', '--host-resolver-rules=MAP localhost 127.0.0.1'];
  browser ??= await chromium.launch({ executablePath: (found as { path: string }).path, args });
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US' });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => {
    if (!message.startsWith('Transition was')) problems.push(message);
  });
  return { page, problems };
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.getByLabel('Code from the email').waitFor();
  await page.getByLabel('Code from the email').fill(codesSentTo(api, email).at(-1)!);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** An archive of this size, which does not compress. */
async function anArchive(bytes: number): Promise<string> {
  const path = join(api.folder, 'large.zip');
  const content = Buffer.alloc(bytes, 'Modstead ');
  const archive = zipOf([{ name: 'large.bin', content, packed: content, method: 0 }]);
  await new Promise<void>((resolve, reject) =>
    createWriteStream(path)
      .on('error', reject)
      .end(archive, () => resolve()),
  );
  return path;
}

test('in Chromium an author publishes a large file over a broken line and a reload, translates it and appeals', {
  skip,
}, async () => {
  const line = new Line();
  after(() => line.close());
  const origin = await line.open();
  const { page, problems } = await aPage();
  await page.goto(`${origin}/g/${game.name_id}/add/mod`);
  await signIn(page, 'maker@example.org');
  await page.getByLabel('Name', { exact: true }).fill(`Deep Rivers ${EVIL}`.slice(0, 50));
  await page.getByLabel('Summary').fill(EVIL);
  const buffer = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
    .png()
    .toBuffer();
  await page.locator('input[name=logo]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
  await page.getByRole('button', { name: 'Add, then upload a file' }).click();
  await page.waitForURL('**/edit/files');

  const bytes = MEGABYTES * 1_000_000;
  const archive = await anArchive(bytes);
  await page.locator('#field-version').fill('1.2.3');
  const lost = page.getByText('The connection is lost.');
  line.breakAfter(bytes * 0.6);
  await page.getByLabel('Zip archive').setInputFiles(archive);
  await lost.waitFor();
  line.breakAfter(bytes * 0.15);
  await lost.waitFor({ state: 'hidden' });
  await lost.waitFor();
  line.repair();
  const before = line.sent;
  await page.reload();
  await page.getByText('Uploaded. Publish it below.').waitFor();
  // What the service had before the line broke was not sent again.
  assert.ok(line.sent - before < bytes * 0.95, `${line.sent - before} bytes for ${bytes}`);
  assert.equal(await page.locator('#field-version').inputValue(), '1.2.3');
  await page.getByRole('button', { name: 'Publish file' }).click();
  await page.getByText('The file was added.').waitFor();
  await page.getByRole('heading', { name: 'Version 1.2.3' }).waitFor();

  const team = await api.as(game.owner);
  const inGame = { game_id: game.id };
  const listed = await team.call(getMods, { params: inGame, query: { 'status-in': '0,1' } });
  const mod = listed.body.data[0]!;
  const params = { ...inGame, mod_id: mod.id };
  const files = await team.call(getModfiles, { params, query: {} });
  assert.ok(files.body.data[0]!.filesize > bytes);

  await page.getByRole('link', { name: 'Translations' }).click();
  await page.getByLabel('Language').selectOption('ja');
  await page.waitForURL(/language=ja/);
  await page.getByLabel('Name', { exact: true }).fill('深い川');
  await page.getByRole('button', { name: 'Save Japanese' }).click();
  await page.getByText('Saved.').waitFor();
  const translated = await team.call(getMod, { params, headers: { 'accept-language': 'ja' } });
  assert.equal(translated.body.name, '深い川');

  const decision = { resource: 'mods', id: mod.id, decision: 'deny', reason: `Too deep ${EVIL}` } as const;
  const decided = await team.call(decideOverContent, { params: inGame, body: decision });
  assert.equal(decided.status, 204, decided.text);
  await page.getByRole('link', { name: 'State' }).click();
  await page.getByText('Too deep').first().waitFor();
  await page.getByLabel('Your appeal').fill('It is shallow now.');
  await page.getByRole('button', { name: 'Send appeal' }).click();
  await page.getByText('Your appeal was sent.').waitFor();
  assert.doesNotMatch(await page.title(), /^taken/);
  assert.deepEqual(problems, []);
});
