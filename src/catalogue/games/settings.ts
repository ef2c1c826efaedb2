import type { Updateable } from 'kysely';
import { fold } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { GameRow } from './store.ts';
import type { GamesTable } from './table.ts';

/** `monetization_options`: the game sells things. */
const MONETIZATION = 1;
/** `curation_option`: what the team of a game looks at before players see it. */
export const CURATION = { none: 0, marketplace: 1, everything: 2 } as const;
/** `dependency_option`: dependencies are unrestricted, and authors can withdraw mods that others depend on. */
const DEPENDENCIES_UNRESTRICTED = 3;

const LOCALISABLE = ['name', 'summary', 'instructions', 'ugc_name'] as const;

const DEFAULT_THEME = {
  primary: '#44BFD5',
  dark: '#0F141A',
  light: '#FFFFFF',
  success: '#68D391',
  warning: '#D6AF2E',
  danger: '#E74C3C',
};

export const DEFAULTS = {
  presentation_option: 0,
  submission_option: 1,
  dependency_option: 3,
  curation_option: 0,
  profanity_option: 0,
  community_options: 1 | 2 | 256 | 512 | 1024 | 2048 | 8192 | 16384,
  monetization_options: 0,
  api_access_options: 1 | 2,
  maturity_options: 0,
  revenue_options: 0,
  limit_collection_mods: 0,
  cloud_cooking_status: 0,
  max_stock: 0,
  service_features: 0,
  instructions: null,
  instructions_url: null,
  ugc_name: 'mods',
  token_name: 'cogs',
  icon: null,
  logo: null,
  header: null,
  theme: JSON.stringify(DEFAULT_THEME),
  other_urls: '[]',
};

/** Text columns have a folded copy, by which lists compare. */
export function foldedCopies<V extends Updateable<GamesTable>>(values: V): Pick<GamesTable, FoldedColumn> {
  const copies: Partial<Record<FoldedColumn, string>> = {};
  for (const field of ['name', 'summary', 'ugc_name', 'instructions_url'] as const)
    if (values[field] !== undefined) copies[`${field}_folded`] = fold(values[field] ?? '');
  return copies as Record<FoldedColumn, string>;
}

type FoldedColumn = 'name_folded' | 'summary_folded' | 'ugc_name_folded' | 'instructions_url_folded';

type Settable =
  | 'name'
  | 'name_id'
  | 'summary'
  | 'instructions'
  | 'instructions_url'
  | 'ugc_name'
  | 'token_name'
  | 'status'
  | 'presentation_option'
  | 'submission_option'
  | 'dependency_option'
  | 'curation_option'
  | 'profanity_option'
  | 'community_options'
  | 'monetization_options'
  | 'api_access_options'
  | 'maturity_options'
  | 'revenue_options'
  | 'limit_collection_mods'
  | 'cloud_cooking_status'
  | 'max_stock'
  | 'service_features'
  | 'takedown_reports'
  | 'summary_length_max'
  | 'icon'
  | 'logo'
  | 'header';

export type GameChanges = { readonly [F in Settable]?: Updateable<GamesTable>[F] | undefined } & {
  readonly theme?: Readonly<Record<string, string>> | undefined;
  readonly other_urls?: readonly { label: string; url: string }[] | undefined;
  readonly platforms?: readonly GamePlatform[] | undefined;
};

interface GamePlatform {
  readonly platform: string;
  readonly label?: string | undefined;
  readonly moderated?: boolean | undefined;
  readonly locked?: boolean | undefined;
}

/** Refuses combinations of values that are invalid for every caller. */
export function refuseContradictions(before: GameRow, changes: GameChanges): void {
  const { monetization_options = before.monetization_options, dependency_option = before.dependency_option } = changes;
  const isAsked = changes.monetization_options !== undefined || changes.dependency_option !== undefined;
  if (isAsked && (monetization_options & MONETIZATION) !== 0 && dependency_option === DEPENDENCIES_UNRESTRICTED)
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field: 'monetization_options', rule: 'sells_or_depends' }],
    });
  const { platforms = [] } = changes;
  if (new Set(platforms.map(({ platform }) => platform)).size < platforms.length)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'platforms', rule: 'once' }] });
  if (platforms.length > 0 && platforms.every(({ locked }) => locked))
    throw new ApiError('GAME_MUST_HAVE_ONE_UNLOCKED_PLATFORM');
}

export function localisableOf(changes: GameChanges): Record<string, string> {
  const texts = LOCALISABLE.map((field) => [field, changes[field]] as const);
  return Object.fromEntries(texts.filter((entry): entry is [(typeof LOCALISABLE)[number], string] => entry[1] != null));
}

/** The columns to change; texts in a language other than English are translations instead. */
export function columnsOf(before: GameRow, changes: GameChanges, language: Language): Updateable<GamesTable> {
  const { platforms: _, theme, other_urls, ...plain } = changes;
  const columns: Updateable<GamesTable> = { ...plain };
  if (language !== 'en') for (const field of LOCALISABLE) delete columns[field];
  if (theme) columns.theme = JSON.stringify({ ...JSON.parse(before.theme), ...theme });
  if (columns.instructions_url === '') columns.instructions_url = null;
  if (other_urls) columns.other_urls = JSON.stringify(other_urls);
  return { ...columns, ...foldedCopies(columns) };
}

/** The default names of platforms. */
const PLATFORM_LABELS: Readonly<Record<string, string>> = {
  source: 'Source',
  windows: 'Windows',
  mac: 'Mac',
  linux: 'Linux',
  android: 'Android',
  ios: 'iOS',
  xboxone: 'Xbox One',
  xboxseriesx: 'Xbox Series X|S',
  ps4: 'PlayStation 4',
  ps5: 'PlayStation 5',
  switch: 'Nintendo Switch',
  switch2: 'Nintendo Switch 2',
  oculus: 'Meta Quest',
  windowsserver: 'Windows Server',
  linuxserver: 'Linux Server',
};

export const toPlatformRow = ({ platform, label, moderated, locked }: GamePlatform) => ({
  platform,
  label: label || (PLATFORM_LABELS[platform] ?? platform),
  moderated: moderated ? 1 : 0,
  locked: locked ? 1 : 0,
});
