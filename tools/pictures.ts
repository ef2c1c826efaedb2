import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import sharp, { type OverlayOptions } from 'sharp';
import { findChromium } from '../test/chromium.ts';
import { addWork, startEmpty } from './sample-work.ts';
import { OWNER, signedIn, startService } from './site-check.ts';
import { RUNNING } from './site-pages.ts';

const help = `npm run pictures [-- --only PATTERN]

Takes the screenshots of README.md and docs/ from running services, one with sample content and an empty one, and writes them
to docs/pictures. It needs Chromium, and fonts for the scripts of the sample content.`;

const FOLDER = 'docs/pictures';

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'dark';
  readonly as?: 'owner' | 'player';
}

const PLAYER = 'tidewalker@example.com';

const SHOTS: readonly Shot[] = [
  { name: 'home', path: '/' },
  { name: 'game', path: '/g/skyfarers' },
  { name: 'mod', path: '/g/skyfarers/m/better-river-overhaul-1', as: 'player' },
  { name: 'mod-small', path: '/g/skyfarers/m/better-river-overhaul-1', width: 320, height: 640 },
  { name: 'library', path: '/library', as: 'player', height: 520 },
  { name: 'upload', path: '/g/skyfarers/add/mod', as: 'player' },
  { name: 'dashboard', path: '/g/skyfarers/admin', as: 'owner', height: 960 },
  { name: 'moderation', path: '/g/gridline-99/admin/moderation', as: 'owner' },
  { name: 'rules', path: '/g/skyfarers/admin/rules', as: 'owner' },
  { name: 'webhooks', path: '/g/skyfarers/admin/webhooks', as: 'owner', height: 620 },
  { name: 'oauth', path: '/g/skyfarers/admin/oauth', as: 'owner', height: 620 },
  { name: 'money', path: '/g/skyfarers/admin/money/packs', as: 'owner', height: 620 },
  { name: 'staff', path: '/admin', as: 'owner', height: 480 },
  { name: 'look', path: '/admin/look', as: 'owner', height: 720, scheme: 'dark' },
];

/** Those below the window load when they come into sight. */
const IMAGES_DRAWN = `Promise.all([...document.images]
  .filter((image) => image.getBoundingClientRect().top < innerHeight)
  .map((image) => image.decode().catch(() => undefined)))`;

type Cookies = Awaited<ReturnType<typeof signedIn>>;

async function taken(browser: Browser, address: string, shot: Shot, cookies: Cookies): Promise<Buffer> {
  const { width = 1180, height = 800, scheme = 'light' } = shot;
  const viewport = { width, height };
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport, colorScheme: scheme, locale: 'en-US' });
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(address);
  if (shot.path !== '/v1/docs') await page.locator(RUNNING).waitFor({ state: 'attached' });
  await page.evaluate(IMAGES_DRAWN);
  const picture = await page.screenshot();
  await context.close();
  return picture;
}

const OVERVIEW_HEIGHT = 720;
const GAP = 24;
/** What players, studios and engineers see. The dashboard is dark, as it is for a browser that prefers it. */
const OVERVIEW: readonly (Shot & { readonly width: number })[] = [
  { name: 'overview', path: '/g/skyfarers', width: 940, height: OVERVIEW_HEIGHT },
  { name: 'overview', path: '/g/skyfarers/admin', width: 620, height: OVERVIEW_HEIGHT, scheme: 'dark', as: 'owner' },
  { name: 'overview', path: '/v1/docs', width: 400, height: OVERVIEW_HEIGHT },
];

/** A palette of 64 colours makes the file a quarter of its size, and text stays sharp. */
async function sideBySide(pictures: readonly Buffer[]): Promise<Buffer> {
  let left = GAP;
  const layers: OverlayOptions[] = pictures.map((input, index) => {
    const layer = { input, left, top: GAP };
    left += OVERVIEW[index]!.width + GAP;
    return layer;
  });
  const size = { width: left, height: OVERVIEW_HEIGHT + 2 * GAP };
  const background = { create: { ...size, channels: 3 as const, background: '#cbd2de' } };
  return sharp(background).composite(layers).png({ palette: true, colours: 64, effort: 10 }).toBuffer();
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean' }, only: { type: 'string', default: '' } } });
  if (values.help) return console.log(help);
  const found = findChromium();
  if ('reason' in found) throw new Error(found.reason);
  const only = new RegExp(values.only);
  const store = async (name: string, picture: Buffer) => {
    await sharp(picture).webp({ quality: 82, effort: 6 }).toFile(`${FOLDER}/${name}.webp`);
    console.log(`${FOLDER}/${name}.webp`);
  };
  // The services' own certificates are not known to this process.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const args = ['--no-sandbox', '--host-resolver-rules=MAP localhost 127.0.0.1,MAP *.localhost 127.0.0.1'];
  const browser = await chromium.launch({ executablePath: found.path, args });
  const [service, empty] = [await startService(), await startEmpty()];
  try {
    await addWork(service);
    const cookies = {
      owner: await signedIn(browser, service, OWNER),
      player: await signedIn(browser, service, PLAYER),
    };
    const take = (shot: Shot) => taken(browser, service.site + shot.path, shot, shot.as ? cookies[shot.as] : []);
    for (const shot of SHOTS.filter(({ name }) => only.test(name))) await store(shot.name, await take(shot));
    if (only.test('setup'))
      await store('setup', await taken(browser, empty.address, { name: 'setup', path: '', height: 520 }, []));
    if (only.test('overview')) {
      const parts: Buffer[] = [];
      for (const shot of OVERVIEW) parts.push(await take(shot));
      fs.writeFileSync(`${FOLDER}/overview.png`, await sideBySide(parts));
    }
  } finally {
    await browser.close();
    await Promise.all([service.stop(), empty.stop()]);
  }
}

if (import.meta.main) await main();
