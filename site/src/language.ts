import type { RequestEvent } from '@sveltejs/kit';
import { isPseudo, languageOf } from '#texts';

/** The language of a page. In development a browser may ask for the pseudo-languages. */
export function siteLanguageOf({ platform, request }: Pick<RequestEvent, 'platform' | 'request'>): string {
  const [asked] = request.headers.get('accept-language')?.split(',') ?? [];
  return platform!.isDevelopment && asked && isPseudo(asked) ? asked : languageOf(platform!.language);
}
