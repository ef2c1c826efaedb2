import { LANGUAGES, type Language } from '../../platform/localisation/languages.ts';
import { add, type Lines } from './lines.ts';
import type { Game } from './modio-objects.ts';
import type { ModioReader } from './modio-reader.ts';
import type { WorkFolder } from './work-folder.ts';

type Translations = Readonly<Record<string, string>>;

/** What only the list of tag options says of a group. */
interface TagGroupTexts {
  readonly name: string;
  readonly name_localization?: Translations;
  readonly tags_localization?: readonly { readonly tag: string; readonly translations: Translations }[];
  readonly platforms?: readonly string[];
}

/** Tags have no ids at the source. */
export const tagId = (work: WorkFolder, name: string): number => work.idFor('game_tags', name);

/** The tag options of a game, with their translations. */
export async function fetchTagOptions(rows: Lines, game: Game, work: WorkFolder, reader: ModioReader): Promise<void> {
  if (!game.tag_options) return;
  const texts = new Map((await reader.all<TagGroupTexts>(`${reader.root}/tags`)).map((each) => [each.name, each]));
  const groups: number[] = [];
  for (const [position, { name, type = 'checkboxes', tags, hidden, locked }] of game.tag_options.entries()) {
    const id = work.idFor('game_tag_groups', name);
    const { platforms = [], name_localization, tags_localization = [] } = texts.get(name) ?? {};
    add(rows, 'game_tag_groups', {
      ...{ id, game_id: game.id, name, type, position, platforms: platforms.join() },
      hidden: Number(hidden ?? 0),
      locked: Number(locked ?? 0),
    });
    for (const [place, tag] of tags.entries())
      add(rows, 'game_tags', { id: tagId(work, tag), group_id: id, name: tag, position: place });
    reader.listed(rows, {
      kind: 'game_tags',
      of: 'game_tag_groups',
      of_id: id,
      ids: tags.map((tag) => tagId(work, tag)),
    });
    translationRows(rows, game.id, `tag_group/${id}`, name_localization);
    for (const { tag, translations } of tags_localization)
      if (tags.includes(tag)) translationRows(rows, game.id, `tag/${tagId(work, tag)}`, translations);
    groups.push(id);
  }
  reader.listed(rows, { kind: 'game_tag_groups', of: 'games', of_id: game.id, ids: groups });
}

function translationRows(rows: Lines, gameId: number, field: string, translations: Translations = {}): void {
  // English is the name itself.
  for (const [language, text] of Object.entries(translations))
    if (language !== 'en' && LANGUAGES.includes(language as Language))
      add(rows, 'translations', { resource: 'games', resource_id: gameId, field, language, text });
}
