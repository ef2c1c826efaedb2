import { textsOfEveryPage } from '#texts';
import type { LayoutLoadEvent } from './$types';

/** Runs on the server and in the browser, because texts are functions and cannot be sent. */
export async function load({ data }: LayoutLoadEvent) {
  return { ...data, t: await textsOfEveryPage(data.language) };
}
