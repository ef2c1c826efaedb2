import { DEFAULTS as GAME_DEFAULTS } from '../../catalogue/games/settings.ts';
import { NEW_MOD } from '../../catalogue/mods/mods.ts';
import { displayText, percentagePositive, wilsonLowerBound } from '../../catalogue/mods/rating-scores.ts';
import { MISCELLANEOUS } from '../../community/collections/categories.ts';
import { ALLOW_COMMENTS } from '../../community/guides/guides.ts';
import { fold } from '../../platform/database/words.ts';
import { confusableSkeleton } from '../../platform/filters/confusables.ts';
import { slug } from '../../platform/text/slug.ts';

export type Given = Readonly<Record<string, unknown>>;
type Defaults = (given: Given, now: number) => Given;

const ACCEPTED = 1;
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0);

const dates = ({ date_added }: Given, now: number) => {
  const added = date_added ?? now;
  return { date_added: added, date_updated: added, date_live: added };
};
const nameId = (fallback: string, name: unknown) => slug(textOf(name)) || fallback;

/** What a line may omit, and what the row then contains: the values of something new. */
export const DEFAULTS: Readonly<Record<string, Defaults>> = {
  users: (given, now) => ({
    status: ACCEPTED,
    name_id: nameId('user', given['username']),
    username_skeleton: confusableSkeleton(textOf(given['username'])),
    admin: 0,
    date_joined: given['date_joined'] ?? now,
    date_online: given['date_joined'] ?? now,
    timezone: '',
    language: 'en',
    country: '',
    privacy_options: 0,
    monetization_status: 0,
  }),
  games: (given, now) => ({
    ...GAME_DEFAULTS,
    ...dates(given, now),
    status: ACCEPTED,
    summary: '',
    name_id: nameId('game', given['name']),
  }),
  game_platforms: ({ platform }) => ({ label: platform, moderated: 0, locked: 0 }),
  game_stats: () => ({
    mods_count_total: 0,
    mods_downloads_today: 0,
    mods_downloads_total: 0,
    mods_downloads_daily_average: 0,
    mods_subscribers_total: 0,
    date_expires: 0,
  }),
  game_tag_groups: () => ({ type: 'checkboxes', hidden: 0, locked: 0, position: 0 }),
  game_tags: () => ({ position: 0, mods_count: 0 }),
  mods: (given, now) => ({
    ...NEW_MOD,
    ...dates(given, now),
    status: ACCEPTED,
    summary: '',
    name_id: nameId('mod', given['name']),
  }),
  mod_stats: (given) => {
    const positive = numberOf(given['ratings_positive']);
    const total = numberOf(given['ratings_total'] ?? positive + numberOf(given['ratings_negative']));
    return {
      popularity_rank_position: 0,
      popularity_rank_total_mods: 0,
      downloads_today: 0,
      downloads_total: 0,
      subscribers_total: 0,
      ratings_total: total,
      ratings_positive: positive,
      ratings_negative: total - positive,
      ratings_percentage_positive: percentagePositive(positive, total),
      ratings_weighted_aggregate: wilsonLowerBound(positive, total),
      ratings_display_text: displayText(positive, total),
      date_expires: 0,
    };
  },
  mod_tags: (_, now) => ({ name_folded: '', date_added: now }),
  mod_media: () => ({ position: 0, bytes: 0 }),
  mod_dependencies: (_, now) => ({ date_added: now }),
  modfiles: (given, now) => ({
    ...dates(given, now),
    date_scanned: 0,
    virus_status: 0,
    virus_positive: 0,
    status: ACCEPTED,
    withdrawn: 0,
    kind: 'file',
    version: '',
    changelog: '',
    metadata_blob: '',
  }),
  mod_live_files: () => ({ platform: '' }),
  modfile_platforms: () => ({ status: ACCEPTED }),
  team_members: (_, now) => ({ level: 8, position: '', date_added: now }),
  comments: (given, now) => {
    const position = textOf(given['thread_position']);
    return {
      date_added: now,
      date_deleted: 0,
      deleted_by: 0,
      reply_id: 0,
      karma: 0,
      options: 0,
      content: given['markup'],
      markup: given['content'],
      thread_order: position.replace(/\d+/g, (digits) => digits.padStart(8, '0')),
    };
  },
  guides: (given, now) => ({
    ...dates(given, now),
    status: ACCEPTED,
    community_options: ALLOW_COMMENTS,
    withheld: 0,
    dmca: 0,
    visits_today: 0,
    visits_total: 0,
    comments_total: 0,
    summary: '',
    description: '',
    name_id: nameId('guide', given['name']),
  }),
  guide_tags: ({ name }, now) => ({ name_folded: fold(textOf(name)), date_added: now }),
  collections: (given, now) => ({
    ...dates(given, now),
    status: ACCEPTED,
    visible: 1,
    category: MISCELLANEOUS,
    date_disabled: 0,
    limit_mods: 0,
    followers_total: 0,
    ratings_positive: 0,
    ratings_negative: 0,
    registering_until: 0,
    deleted_by: 0,
    tags: '',
    summary: '',
    deleted_reason: '',
    description: '',
    name_id: nameId('collection', given['name']),
  }),
  collection_mods: (_, now) => ({ place: 0, date_added: now }),
  collection_followers: (_, now) => ({ date_added: now }),
  collection_ratings: (_, now) => ({ date_added: now }),
  subscriptions: (_, now) => ({ date_added: now }),
  ratings: (_, now) => ({ resource: 'mods', date_added: now }),
  portal_accounts: (_, now) => ({ game_id: 0, display_name: '', avatar: '', date_added: now, date_used: now }),
};
