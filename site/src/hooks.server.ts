import { error, type RequestEvent, redirect } from '@sveltejs/kit';
import type { Handle } from '@sveltejs/kit/hooks';
import { signInAddress } from '#components/addresses.ts';
import { siteLanguageOf } from '#language';
import { directionOf, textsOfEveryPage } from '#texts';

/** Forms of this size carry no file; larger bodies name their token in the header instead. */
const FIELD_BYTES_MAX = 16 * 1024 * 1024;

export const handle: Handle = async ({ event, resolve }) => {
  const { platform, request } = event;
  if (!platform) throw new Error('The site runs inside the service alone.');
  platform.nameRoute(event.route.id);
  const language = siteLanguageOf(event);
  if (request.method !== 'GET' && request.method !== 'HEAD' && !platform.confirmForm(await tokenOf(request)))
    error(403, { message: (await textsOfEveryPage(language)).errors.oldForm });
  if (wantsToSignIn(event)) redirect(303, signInAddress(event.url.pathname + event.url.search));
  const answer = await resolve(event, {
    transformPageChunk: ({ html }) =>
      html
        .replace('%site.language%', language)
        .replace('%site.direction%', directionOf(language))
        // A page reads and looks the same without scripts, so that what it shows comes first.
        .replaceAll(/<link href="[^"]+" rel="modulepreload"/g, '$& fetchpriority="low"'),
  });
  return event.route.id?.startsWith('/embed/') ? framed(answer) : answer;
};

/** Games open any page with `?portal=steam&login=auto`, and the sign-in page reads the hint from where it returns to. */
const wantsToSignIn = ({ platform, request, url }: RequestEvent): boolean =>
  request.method === 'GET' &&
  !platform!.isSignedIn &&
  url.searchParams.get('login') === 'auto' &&
  url.searchParams.has('portal');

/** Pages for other sites may be shown in their frames. They have no forms that change something. */
function framed(answer: Response): Response {
  const policy = answer.headers.get('content-security-policy');
  if (policy)
    answer.headers.set('content-security-policy', policy.replace("frame-ancestors 'none'", 'frame-ancestors *'));
  return answer;
}

async function tokenOf(request: Request): Promise<string | undefined> {
  const header = request.headers.get('x-csrf-token');
  if (header !== null) return header;
  const isForm = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/.test(
    request.headers.get('content-type') ?? '',
  );
  if (!isForm || Number(request.headers.get('content-length')) > FIELD_BYTES_MAX) return undefined;
  const field = (await request.clone().formData()).get('csrf');
  return typeof field === 'string' ? field : undefined;
}
