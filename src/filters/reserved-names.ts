import { confusableSkeleton, confusableWords, withoutRun } from './confusables.ts';

const SERVICE = confusableSkeleton('Modstead');

/** How staff call themselves. `mod` and `manager` are not here: every other application manages mods. */
const STAFF: ReadonlySet<string> = new Set(
  [
    ...['official', 'verified', 'admin', 'admins', 'administrator', 'administrators', 'administration', 'moderator'],
    ...['moderators', 'moderation', 'staff', 'support', 'helpdesk', 'security', 'system', 'sysadmin', 'sysop', 'root'],
  ].map(confusableSkeleton),
);

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
