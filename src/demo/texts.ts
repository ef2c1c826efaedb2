import type { GameChanges } from '../catalogue/games/settings.ts';
import type { NewTagGroup } from '../catalogue/tag-options/tag-options.ts';
import type { Language } from '../platform/localisation/languages.ts';
import type { Scenery } from './drawings.ts';

/** People, studios and games here are invented; example.com is reserved for examples (RFC 2606). */
export const OWNER = { username: 'Lantern Yard', email: 'studio@example.com', language: 'en' };

export const MODERATOR_EMAIL = 'mika@example.com';

export const PLAYERS: readonly (typeof OWNER)[] = [
  { username: 'Mika Brandt', email: MODERATOR_EMAIL, language: 'de' },
  { username: 'tidewalker', email: 'tidewalker@example.com', language: 'en' },
  { username: 'Élodie', email: 'elodie@example.com', language: 'fr' },
  { username: '星空ハル', email: 'haru@example.com', language: 'ja' },
  { username: 'copperfox', email: 'copperfox@example.com', language: 'es' },
];

export interface SampleGame {
  readonly name: string;
  readonly summary: string;
  readonly accepted: boolean;
  readonly scenery: Scenery;
  readonly tagGroups: readonly NewTagGroup[];
  readonly changes: GameChanges;
  readonly translations: Partial<Record<Language, GameChanges>>;
  /** Made by a player, with the most popular mods. Games without players have none. */
  readonly collection?: { readonly name: string; readonly summary: string; readonly description: string };
  /** Written by the community moderator. */
  readonly guide?: {
    readonly name: string;
    readonly summary: string;
    readonly description: string;
    readonly tags: readonly string[];
  };
}

const platform = (name: string, label: string, moderated = false, locked = false) => ({
  platform: name,
  label,
  moderated,
  locked,
});

const VERSIONS: NewTagGroup = {
  name: 'Game version',
  type: 'dropdown',
  hidden: true,
  tags: ['1.0', '1.1', '1.2', '2.0'],
};
const FEATURED: NewTagGroup = {
  name: 'Highlights',
  type: 'checkboxes',
  locked: true,
  tags: ['Featured', 'Staff pick', 'Contest winner'],
};

export const GAMES: readonly SampleGame[] = [
  {
    name: 'Skyfarers',
    summary: 'Build an airship, gather a crew and map the islands above the storm, alone or with up to eight friends.',
    accepted: true,
    scenery: 'sky',
    collection: {
      name: 'First voyage',
      summary: 'Everything for a calm first week above the storm. Nothing here changes the balance of the game.',
      description: '<p>Start with the first two, then add one at a time.</p><p>Tested together on a new save.</p>',
    },
    guide: {
      name: 'Your first airship mod, from hull to upload',
      summary: 'Export a ship from the shipyard, test it with a friend and share it: an hour of work, no programming.',
      description:
        '<h2>Before you start</h2><p>Save a copy of your ship: the shipyard overwrites it when you export.</p><h2>Export</h2><ol><li>Open <b>Menu, Create, Export</b>.</li><li>Choose an empty folder.</li><li>Zip the folder, not the files in it.</li></ol><h2>Test and share</h2><p>Load it in a new world with one friend. If both of you can steer, upload it with a picture that shows the whole ship.</p>',
      tags: ['Beginner', 'Ships'],
    },
    tagGroups: [
      {
        name: 'Type',
        type: 'checkboxes',
        tags: ['Ship', 'Island', 'Character', 'Weapon', 'Quest', 'Interface', 'Translation'],
      },
      { name: 'Difficulty', type: 'dropdown', tags: ['Easy', 'Medium', 'Hard'] },
      VERSIONS,
      FEATURED,
    ],
    changes: {
      ugc_name: 'mods',
      instructions:
        'Export your work from the shipyard (Menu, Create, Export), zip the folder and upload it. Mods load in the order of the list in Settings.',
      instructions_url: 'https://example.com/skyfarers/modding',
      presentation_option: 0,
      curation_option: 0,
      maturity_options: 1,
      theme: {
        primary: '#2F80ED',
        dark: '#10192B',
        light: '#F4F8FF',
        success: '#27AE60',
        warning: '#F2994A',
        danger: '#EB5757',
      },
      other_urls: [
        { label: 'Web site', url: 'https://example.com/skyfarers' },
        { label: 'Wiki', url: 'https://example.com/skyfarers/wiki' },
      ],
      platforms: [
        platform('windows', 'Windows'),
        platform('mac', 'macOS'),
        platform('linux', 'Linux and Steam Deck'),
        platform('xboxseriesx', 'Xbox Series X|S', true),
        platform('ps5', 'PlayStation 5', true),
      ],
    },
    translations: {
      de: {
        summary:
          'Baue ein Luftschiff, sammle eine Mannschaft und erkunde die Inseln über dem Sturm, allein oder mit bis zu acht Freunden.',
        instructions:
          'Exportiere dein Werk aus der Werft (Menü, Erstellen, Exportieren), packe den Ordner als ZIP und lade ihn hoch. Mods werden in der Reihenfolge der Liste in den Einstellungen geladen.',
        ugc_name: 'Mods',
      },
      fr: {
        summary:
          'Construisez un dirigeable, réunissez un équipage et cartographiez les îles au-dessus de la tempête, seul ou jusqu’à huit amis.',
        ugc_name: 'mods',
      },
      es: {
        summary:
          'Construye un dirigible, reúne una tripulación y cartografía las islas sobre la tormenta, a solas o con hasta ocho amigos.',
      },
      ja: {
        name: 'スカイフェアラーズ',
        summary: '飛行船を造り、仲間を集め、嵐の上に浮かぶ島々の地図を描こう。ひとりでも、最大8人の仲間とでも。',
      },
      'zh-CN': {
        name: '天空旅者',
        summary: '建造飞艇，召集船员，绘制风暴之上的群岛地图。可单人游玩，也可与最多八位好友同行。',
      },
    },
  },
  {
    name: 'Gridline 99',
    summary: 'Neon arcade racing with a track editor that fits in your pocket: draw a line, drive it, share it.',
    accepted: true,
    scenery: 'race',
    collection: {
      name: 'Evening league',
      summary: 'The tracks that we drive every Thursday: short laps, clear corners, room to overtake.',
      description: '<p>Three laps each, in this order. Join in the lobby at eight.</p>',
    },
    guide: {
      name: 'Corners that are fun to drive',
      summary: 'Five rules for tracks that people drive twice, with the numbers to enter in the track editor.',
      description:
        '<h2>Show the exit</h2><p>Drivers brake for what they cannot see. Keep walls low on the inside.</p><h2>Numbers that work</h2><ul><li>Width: 14 on straights, 18 in corners.</li><li>Banking: at most 12 degrees.</li><li>One jump per lap is enough.</li></ul><h2>Drive it backwards</h2><p>If it is fun in both directions, it is done.</p>',
      tags: ['Track editor', 'Design'],
    },
    tagGroups: [
      { name: 'Surface', type: 'checkboxes', tags: ['Asphalt', 'Gravel', 'Ice', 'Sand'] },
      { name: 'Length', type: 'dropdown', tags: ['Short', 'Middle', 'Long', 'Endurance'] },
      VERSIONS,
      FEATURED,
    ],
    changes: {
      ugc_name: 'tracks',
      token_name: 'chips',
      presentation_option: 1,
      curation_option: 2,
      dependency_option: 0,
      limit_collection_mods: 100,
      theme: { primary: '#FF3D81', dark: '#12061F', light: '#FFF0F7' },
      other_urls: [{ label: 'Leaderboards', url: 'https://example.com/gridline' }],
      platforms: [
        platform('windows', 'Windows'),
        platform('android', 'Android'),
        platform('ios', 'iPhone and iPad'),
        platform('switch', 'Switch', true, true),
      ],
    },
    translations: {
      de: {
        summary: 'Neonbunte Arcade-Rennen mit einem Streckeneditor für die Hosentasche: zeichnen, fahren, teilen.',
        ugc_name: 'Strecken',
      },
      fr: {
        summary: 'Courses d’arcade au néon et éditeur de circuits de poche : tracez une ligne, pilotez, partagez.',
        ugc_name: 'circuits',
      },
      ja: {
        summary: 'ポケットに収まるコースエディター付きのネオン・アーケードレース。線を引いて、走って、共有しよう。',
        ugc_name: 'コース',
      },
    },
  },
  {
    name: 'The Hollow Garden',
    summary: 'A quiet puzzle adventure about a greenhouse that remembers. In closed beta.',
    accepted: false,
    scenery: 'garden',
    tagGroups: [
      { name: 'Theme', type: 'checkboxes', tags: ['Puzzle', 'Story', 'Relaxing', 'Horror'] },
      { name: 'Difficulty', type: 'dropdown', tags: ['Easy', 'Medium', 'Hard'] },
      VERSIONS,
    ],
    changes: {
      ugc_name: 'levels',
      submission_option: 1,
      curation_option: 1,
      theme: { primary: '#6FA86B', dark: '#141A14', light: '#F6FAF2' },
      platforms: [platform('windows', 'Windows'), platform('linux', 'Linux')],
    },
    translations: {
      de: {
        name: 'Der hohle Garten',
        summary: 'Ein stilles Rätselabenteuer über ein Gewächshaus, das sich erinnert. In geschlossener Beta.',
      },
    },
  },
];

/** Translations of the English names of tags and tag groups. */
export const TAG_TEXTS: Partial<Record<Language, Readonly<Record<string, string>>>> = {
  de: {
    Type: 'Art',
    Ship: 'Schiff',
    Island: 'Insel',
    Character: 'Figur',
    Weapon: 'Waffe',
    Quest: 'Aufgabe',
    Interface: 'Oberfläche',
    Translation: 'Übersetzung',
    Difficulty: 'Schwierigkeit',
    Easy: 'Leicht',
    Medium: 'Mittel',
    Hard: 'Schwer',
    'Game version': 'Spielversion',
    Highlights: 'Ausgewählt',
    Featured: 'Empfohlen',
    'Staff pick': 'Wahl des Teams',
    'Contest winner': 'Wettbewerbssieger',
    Surface: 'Untergrund',
    Asphalt: 'Asphalt',
    Gravel: 'Schotter',
    Ice: 'Eis',
    Sand: 'Sand',
    Length: 'Länge',
    Short: 'Kurz',
    Middle: 'Mittel',
    Long: 'Lang',
    Endurance: 'Ausdauer',
    Theme: 'Thema',
    Puzzle: 'Rätsel',
    Story: 'Geschichte',
    Relaxing: 'Entspannt',
    Horror: 'Grusel',
  },
  fr: {
    Type: 'Type',
    Ship: 'Vaisseau',
    Island: 'Île',
    Character: 'Personnage',
    Weapon: 'Arme',
    Quest: 'Quête',
    Interface: 'Interface',
    Translation: 'Traduction',
    Difficulty: 'Difficulté',
    Easy: 'Facile',
    Medium: 'Moyen',
    Hard: 'Difficile',
    Surface: 'Revêtement',
    Gravel: 'Gravier',
    Ice: 'Glace',
    Sand: 'Sable',
    Length: 'Longueur',
  },
  ja: {
    Type: '種類',
    Ship: '船',
    Island: '島',
    Character: 'キャラクター',
    Weapon: '武器',
    Quest: 'クエスト',
    Interface: 'インターフェース',
    Translation: '翻訳',
    Difficulty: '難易度',
    Easy: 'かんたん',
    Medium: 'ふつう',
    Hard: 'むずかしい',
  },
};
