import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import sharp, { type OverlayOptions } from 'sharp';

const help = `npm run pictures

Takes the screenshots of README.md from a running service with sample content, with the Chromium that
MODSTEAD_TEST_CHROMIUM or /usr/bin/chromium names.`;

const FILE = 'docs/pictures/overview.png';
const HEIGHT = 720;
const GAP = 24;
/** What players, studios and engineers see. The dashboard is dark, as it is for a browser that prefers it. */
const SHOTS = [
  { path: '/g/skyfarers', width: 940, scheme: 'light' },
  { path: '/g/skyfarers/admin', width: 620, scheme: 'dark', signIn: 'studio@example.com' },
  { path: '/v1/docs', width: 400, scheme: 'light' },
] as const;

interface Started {
  readonly site: string;
  readonly mails: string;
  stop(): Promise<void>;
}

async function startService(): Promise<Started> {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'modstead-pictures-'));
  const child = spawn(process.execPath, ['bin/modstead.mjs', 'serve', '--demo', '--json'], {
    env: { ...process.env, MODSTEAD_DATA: data, MODSTEAD_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [ready] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    fs.rmSync(data, { recursive: true });
  };
  return { site: (JSON.parse(ready.toString()) as { site: string }).site, mails: path.join(data, 'mail'), stop };
}

async function signIn(page: Page, { site, mails }: Started, email: string): Promise<void> {
  await page.goto(`${site}/sign-in`);
  await page.fill('input[name=email]', email);
  await page.press('input[name=email]', 'Enter');
  await page.waitForSelector('input[name=code]');
  const [mail] = fs.readdirSync(mails);
  const { text } = JSON.parse(fs.readFileSync(path.join(mails, mail!), 'utf8')) as { text: string };
  await page.fill('input[name=code]', /\b[A-HJ-NP-Z2-9]{5,8}\b/.exec(text)![0]);
  await page.press('input[name=code]', 'Enter');
  await page.waitForSelector('input[name=code]', { state: 'detached' });
}

async function screenshots(service: Started): Promise<Buffer[]> {
  const executablePath = process.env['MODSTEAD_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const pictures: Buffer[] = [];
  for (const { path, width, scheme, ...shot } of SHOTS) {
    const viewport = { width, height: HEIGHT };
    const page = await browser.newPage({ ignoreHTTPSErrors: true, viewport, colorScheme: scheme });
    if ('signIn' in shot) await signIn(page, service, shot.signIn);
    await page.goto(service.site + path);
    pictures.push(await page.screenshot());
  }
  await browser.close();
  return pictures;
}

/** A palette of 64 colours makes the file a quarter of its size, and text stays sharp. */
async function sideBySide(pictures: readonly Buffer[]): Promise<Buffer> {
  let left = GAP;
  const layers: OverlayOptions[] = pictures.map((input, index) => {
    const layer = { input, left, top: GAP };
    left += SHOTS[index]!.width + GAP;
    return layer;
  });
  const background = { create: { width: left, height: HEIGHT + 2 * GAP, channels: 3 as const, background: '#cbd2de' } };
  return sharp(background).composite(layers).png({ palette: true, colours: 64, effort: 10 }).toBuffer();
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
  if (values.help) return console.log(help);
  const service = await startService();
  try {
    fs.writeFileSync(FILE, await sideBySide(await screenshots(service)));
  } finally {
    await service.stop();
  }
}

if (import.meta.main) await main();
