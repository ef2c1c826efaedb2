import type { App } from '../../platform/app.ts';
import { EgressError, type EgressOptions } from '../../platform/egress/egress.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';

/**
 * The platform’s address, or the same path on the host from the settings. The studio’s own accounts are configured by
 * each game.
 */
export function addressOf(app: App, portal: LinkedPortal, url: string): string {
  const instead = app.settings.portalAddresses[portal];
  if (!instead || portal === 'sso') return url;
  const { pathname, search } = new URL(url);
  return instead + pathname + search;
}

export interface PlatformAnswer {
  readonly ok: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

async function ask<T>(
  app: App,
  url: string,
  options: EgressOptions,
  unreachable: ErrorName,
  read: (text: string) => T,
): Promise<{ ok: boolean; body: T }> {
  try {
    const { status, body } = await app.egress.fetch(url, { redirectsMax: 0, ...options });
    if (status >= 500 || status === 429) throw new ApiError(unreachable);
    return { ok: status >= 200 && status < 300, body: read(body.toString('utf8')) };
  } catch (cause) {
    if (cause instanceof EgressError || cause instanceof SyntaxError) throw new ApiError(unreachable, { cause });
    throw cause;
  }
}

/**
 * Sends a request to a platform. `unreachable` is the error for no answer, a 5xx answer and an answer that is no JSON
 * object.
 */
export const requestPlatform = (
  app: App,
  url: string,
  options: EgressOptions,
  unreachable: ErrorName,
): Promise<PlatformAnswer> => ask(app, url, options, unreachable, (text) => objectOf(JSON.parse(text)));

/** Sends a form and returns the answer as plain text. */
export async function requestText(
  app: App,
  url: string,
  fields: Readonly<Record<string, string>>,
  unreachable: ErrorName,
): Promise<string> {
  const { body } = await ask(app, url, form(fields), unreachable, (text) => text);
  return body;
}

export const form = (fields: Readonly<Record<string, string>>): EgressOptions => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
  body: new URLSearchParams(fields).toString(),
});

/** Treats a value that is no object as an empty one. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An id, which platforms send as text or as a number. */
export const idTextOf = (value: unknown): string =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? String(value) : stringOf(value);
