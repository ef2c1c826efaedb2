import { confusableSkeleton, confusableWords, withoutRun } from './confusables.ts';

const SERVICE = confusableSkeleton('Modstead');

/** How staff call themselves. `mod` and `manager` are not here: every other application manages mods. */
const STAFF: ReadonlySet<string> = new Set(
  [
    ...['official', 'verified', 'admin', 'admins', 'administrator', 'administrators', 'administration', 'moderator'],
    ...['moderators', 'moderation', 'staff', 'support', 'helpdesk', 'security', 'system', 'sysadmin', 'sysop', 'root'],
  ].map(confusableSkeleton),
);

/** Names of hosts and paths of the service. */
const ADDRESSES: ReadonlySet<string> = new Set(
  ['api', 'www', 'test', 'ws', 'mail', 'docs', 'files', 'legal', 'me', 'oauth'].map(confusableSkeleton),
);

/** What accounts are called that ended. Whoever had such a name would keep another account from ending. */
const ENDED = /^(deleted|merged)-\d+$/;

/** Shorter labels of a domain, such as `mods` or `www`, are words that anyone uses. */
const LABEL_LETTERS_MIN = 5;

/** The part of a domain that is the name of the site: `example` of `mods.example.com`. */
function siteLabel(domain: string): string | undefined {
  const labels = domain.split('.');
  const label = labels.length > 1 ? confusableSkeleton(labels.at(-2)!) : '';
  return label.length >= LABEL_LETTERS_MIN ? label : undefined;
}

/**
 * Whether a name resembles that of the service, of the site at this domain, or of people who run it. The part of it
 * that is `own`, a name which staff have accepted, is not looked at.
 */
export const resemblesService = (name: string, domain: string, own = ''): boolean =>
  // `@dmin` has a letter there, `@admin` a sign.
  [name, name.replaceAll('@', ' ')].some((spelling) => resembles(withoutRun(confusableWords(spelling), own), domain));

function resembles(words: readonly string[], domain: string): boolean {
  const whole = words.join('');
  const site = confusableSkeleton(domain);
  if (whole.includes(SERVICE) || (domain.includes('.') && whole.includes(site))) return true;
  const label = siteLabel(domain);
  return STAFF.has(whole) || words.some((word) => STAFF.has(word) || word === label);
}

/** What no person is called, as nobody passes for the service or for those who run it. */
export const isReservedForPeople = (name: string, domain: string): boolean =>
  ENDED.test(name) || ADDRESSES.has(confusableSkeleton(name)) || resemblesService(name, domain);

/** What no game has in its address. */
export const isReservedForGames = (nameId: string, domain: string): boolean =>
  ADDRESSES.has(confusableSkeleton(nameId)) || isReservedForContent(nameId, domain);

/**
 * What no mod, guide or collection has in its address. It is names of the service and of staff alone: unlike a person,
 * `system-overhaul` passes for nobody.
 */
export function isReservedForContent(nameId: string, domain: string): boolean {
  const reserved = new Set([...STAFF, SERVICE, confusableSkeleton(domain), siteLabel(domain)]);
  const words = confusableWords(nameId);
  return reserved.has(words.join('')) || (words.length > 0 && words.every((word) => reserved.has(word)));
}
