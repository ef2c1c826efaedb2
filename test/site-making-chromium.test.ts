// Runs on one database: a browser sees no difference.
import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { getMod, getMods } from '../src/catalogue/mods/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { getModfiles } from '../src/files/modfiles/operations.ts';
import { decideOverContent } from '../src/moderation/moderation/operations.ts';
import { startApi } from './api.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { beyondWindow, described, signInByMail, VISITS, type Visit, visiting } from './site-visits.ts';
import { zipOf } from './zips.ts';

const found = findChromium();
const skip = 'reason' in found ? found.reason : false;
/** The size of the published mod. The default has two parts; `MODSTEAD_JOURNEY_MB=300` is the long run. */
const MEGABYTES = Number(process.env['MODSTEAD_JOURNEY_MB'] ?? 60);
const EVIL = '<img src=x onerror="document.title=`taken`">';

const api = await startApi({ site: builtSite() });
const game = await api.aGame({ name: 'Skyfarers' });
let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

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

const launched = () => {
  // The service itself at the usual port, and lines to it at others.
  const hosts = `MAP localhost:443 127.0.0.1:${api.port}, MAP localhost 127.0.0.1`;
  browser ??= launchChromium(found as { path: string }, api, { hosts });
  return browser;
};

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

/** Chooses the archive, loses the connection twice and reloads the page before all of it is stored. */
async function uploadOverBrokenLine(page: Page, line: Line): Promise<number> {
  const bytes = MEGABYTES * 1_000_000;
  const archive = await anArchive(bytes);
  const lost = page.getByText('The connection is lost.');
  line.breakAfter(bytes * 0.6);
  await page.locator('#field-filedata').setInputFiles(archive);
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
  return bytes;
}

/** With scripts a file is sent when it is chosen, otherwise with the form. */
async function uploadSmall(page: Page, { javaScriptEnabled }: Visit): Promise<number> {
  const buffer = zipOf({ 'readme.txt': 'Hello' });
  await page
    .locator('#field-filedata')
    .setInputFiles({ name: 'small.zip', mimeType: 'application/zip', buffer: Buffer.from(buffer) });
  if (javaScriptEnabled) await page.locator(`${ADDING}:has(progress) button.primary:enabled`).waitFor();
  return 0;
}

const ADDING = 'form[action="?/add"]';
const team = await api.as(game.owner);
const inGame = { game_id: game.id };

describe('in Chromium', { concurrency: 2 }, () => {
  for (const visit of VISITS) {
    const isLarge = visit === VISITS[0];
    test(`an author publishes ${isLarge ? 'a large file over a broken line and a reload' : 'a file'}, translates the mod and appeals, ${described(visit)}`, {
      skip,
    }, async () => {
      const line = new Line();
      after(() => line.close());
      const origin = isLarge ? await line.open() : 'https://localhost';
      const { page, problems } = await visiting(await launched(), visit);
      await page.goto(`${origin}/g/${game.name_id}/add/mod`);
      await signInByMail(api, page, `maker.${visit.locale}@example.org`.toLowerCase());
      const name = `Rivers ${visit.locale} ${EVIL}`.slice(0, 50);
      await page.locator('#field-name').fill(name);
      await page.locator('#field-summary').fill(EVIL);
      const buffer = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
        .png()
        .toBuffer();
      await page.locator('input[name=logo]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
      await page.locator('main form button.primary').click();
      await page.waitForURL('**/edit/files');

      await page.locator('#field-version').fill('1.2.3');
      const bytes = isLarge ? await uploadOverBrokenLine(page, line) : await uploadSmall(page, visit);
      assert.equal(await page.locator('#field-version').inputValue(), '1.2.3');
      await page.locator(`${ADDING} button.primary`).click();
      await page.locator('article h3').filter({ hasText: '1.2.3' }).waitFor();
      const listed = await team.call(getMods, { params: inGame, query: { 'status-in': '0,1', name } });
      const mod = listed.body.data[0]!;
      const params = { ...inGame, mod_id: mod.id };
      const files = await team.call(getModfiles, { params, query: {} });
      assert.ok(files.body.data[0]!.filesize > bytes);

      await page.locator('main nav a[href$="/edit/translations"]').click();
      await page.locator('#language').selectOption('fr');
      // With scripts the page changes by itself.
      if (!visit.javaScriptEnabled) await page.locator('form:has(#language) button').click();
      await page.waitForURL(/language=fr/);
      await page.locator('#field-name').fill('Rivières');
      await page.locator('form[method=post] button.primary').click();
      await page.locator('main .notice.good').waitFor();
      const translated = await team.call(getMod, { params, headers: { 'accept-language': 'fr' } });
      assert.equal(translated.body.name, 'Rivières');

      const decision = { resource: 'mods', id: mod.id, decision: 'deny', reason: `Too deep ${EVIL}` } as const;
      const decided = await team.call(decideOverContent, { params: inGame, body: decision });
      assert.equal(decided.status, 204, decided.text);
      await page.locator('main nav a[href$="/edit/state"]').click();
      await page.getByText('Too deep').first().waitFor();
      await page.locator('#field-reason').fill('It is shallow now.');
      await page.locator('form[action="?/appeal"] button').click();
      await page.locator('main .notice.good').waitFor();
      assert.equal(await beyondWindow(page), 0);
      assert.doesNotMatch(await page.title(), /^taken/);
      // A page at another port may not show the pictures of the usual one.
      const isLoss = (problem: string) => isLarge && /net::ERR_|'https:\/\/localhost\/files\//.test(problem);
      assert.deepEqual(
        problems.filter((problem) => !isLoss(problem)),
        [],
      );
      await page.context().close();
    });
  }
});
