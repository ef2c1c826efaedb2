import type { RequestEvent } from '@sveltejs/kit';
import { type Formats, formatsIn } from '#format';
import { isPseudo, languageOf } from '#texts';

type Asked = Pick<RequestEvent, 'platform' | 'request'>;

/** The language of a page. In development a browser may ask for the pseudo-languages. */
export function siteLanguageOf({ platform, request }: Asked): string {
  const [asked] = request.headers.get('accept-language')?.split(',') ?? [];
  return platform!.isDevelopment && asked && isPseudo(asked) ? asked : languageOf(platform!.language);
}

export const formatsOf = (event: Asked): Formats => formatsIn(siteLanguageOf(event));
