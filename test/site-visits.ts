import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { RUNNING } from '../tools/site-pages.ts';
import type { Api } from './api.ts';
import { codesSentTo } from './mails.ts';

/** A language, a screen, and whether scripts run. */
export interface Visit {
  readonly locale: string;
  readonly javaScriptEnabled: boolean;
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  /** Whether one page fades into the next, each frame of which is drawn. */
  readonly reducedMotion: 'no-preference' | 'reduce';
}

/** Each journey is made in four languages, with and without scripts, and with motion in one of them. */
export const VISITS: readonly Visit[] = [
  { locale: 'en-US', javaScriptEnabled: true, width: 1280, colorScheme: 'light', reducedMotion: 'no-preference' },
  { locale: 'de-DE', javaScriptEnabled: false, width: 320, colorScheme: 'dark', reducedMotion: 'reduce' },
  { locale: 'ja-JP', javaScriptEnabled: true, width: 320, colorScheme: 'light', reducedMotion: 'reduce' },
  { locale: 'zh-CN', javaScriptEnabled: false, width: 1280, colorScheme: 'dark', reducedMotion: 'reduce' },
];

export const described = ({ locale, javaScriptEnabled }: Pick<Visit, 'locale' | 'javaScriptEnabled'>): string =>
  `in ${locale} ${javaScriptEnabled ? 'with' : 'without'} scripts`;

/** The texts of an area of the site in the visitor's language, by their names. */
export function textsFor({ locale }: Pick<Visit, 'locale'>, area: string): Readonly<Record<string, string>> {
  const language = locale === 'zh-CN' ? locale : locale.split('-')[0];
  return JSON.parse(readFileSync(new URL(`../site/src/texts/${area}/${language}.json`, import.meta.url), 'utf8'));
}

/** Long enough that only a hang exceeds it, even on a busy machine. */
export const HANG_MS = 300_000;

/** A page in a new profile, with what goes wrong on it. */
export async function visiting(browser: Browser, { width, ...options }: Visit) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, ...options });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => {
    // A transition ends where the next page has none.
    if (!message.startsWith('Transition was')) problems.push(message);
  });
  page.on('console', (message) => {
    // A refusal is an error to a console.
    const isExpected = message.text().includes('the server responded with a status of 4');
    if (message.type() === 'error' && !isExpected) problems.push(`${message.text()} ${message.location().url}`);
  });
  return { page, problems };
}

/** Fills in the sign-in page, in any language. */
export async function signInByMail(api: Api, page: Page, email: string): Promise<void> {
  await page.locator('#email').fill(email);
  await page.locator('main button').click();
  await page.locator('#code').waitFor();
  await page.locator('#code').fill(codesSentTo(api, email).at(-1)!);
  await page.locator('main button').click();
}

/**
 * Waits for the scripts of a page. A field that has a text is filled in after that: if they start between the selection of
 * its text and the new one, the selection is lost.
 */
export const scriptsRun = (page: Page): Promise<void> => page.locator(RUNNING).waitFor({ state: 'attached' });

/** How many pixels of a page are outside of its window. */
export const beyondWindow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
