import type { NewTagGroup } from '../catalogue/tag-options/tag-options.ts';
import type { Language } from '../platform/localisation/languages.ts';

/** Tags for games that have none of their own. */
export const TAG_GROUPS: readonly NewTagGroup[] = [
  {
    name: 'Category',
    type: 'checkboxes',
    tags: [
      'Gameplay',
      'Graphics',
      'Sound',
      'Maps',
      'Weapons',
      'Characters',
      'Interface',
      'Quests',
      'Vehicles',
      'Tools',
    ],
  },
  { name: 'Style', type: 'checkboxes', tags: ['Realistic', 'Fantasy', 'Funny', 'Horror', 'Retro', 'Science fiction'] },
  { name: 'Difficulty', type: 'dropdown', tags: ['Easy', 'Medium', 'Hard'] },
  { name: 'Game version', type: 'dropdown', hidden: true, tags: ['1.0', '1.1', '1.2', '2.0'] },
];

/** The first words of each list are used most. */
export const FIRST_WORDS = [
  'Better',
  'Ancient',
  'Enhanced',
  'Dark',
  'Realistic',
  'Golden',
  'Lost',
  'Frozen',
  'Crimson',
  'Simple',
  'Ultimate',
  'Silent',
  'Burning',
  'Hidden',
  'Royal',
  'Wild',
  'Broken',
  'Emerald',
  'Endless',
  'Forgotten',
  'Haunted',
  'Iron',
  'Lunar',
  'Mystic',
  'Neon',
  'Obsidian',
  'Pixel',
  'Radiant',
  'Savage',
  'Tiny',
  'Velvet',
  'Winter',
] as const;
export const MIDDLE_WORDS = [
  'Dragon',
  'Sky',
  'Ship',
  'Castle',
  'Forest',
  'Sword',
  'Island',
  'Village',
  'Armour',
  'Desert',
  'Market',
  'Harbour',
  'Storm',
  'Garden',
  'Tower',
  'Mountain',
  'Engine',
  'River',
  'Lantern',
  'Wolf',
  'Dungeon',
  'Temple',
  'Bridge',
  'Crystal',
  'Airship',
  'Library',
  'Racing',
  'Station',
  'Robot',
  'Farming',
  'Fishing',
  'Kitchen',
  'Meadow',
  'Canyon',
  'Volcano',
  'Cathedral',
  'Observatory',
  'Lighthouse',
  'Workshop',
  'Caravan',
] as const;
export const LAST_WORDS = [
  'Overhaul',
  'Pack',
  'Textures',
  'Expansion',
  'Map',
  'Sounds',
  'Skins',
  'Quest',
  'Interface',
  'Collection',
  'Remake',
  'Tweaks',
  'Weather',
  'Lighting',
  'Music',
  'Companions',
  'Fix',
  'Challenge',
  'Stories',
  'Tools',
] as const;

/** Parts of invented place names. */
export const PLACE_BEGINNINGS =
  'Val Mor Ash Bran Cor Dun Eld Fen Gal Hol Ith Kar Lor Myr Nor Or Pel Quin Ras Tal'.split(' ');
export const PLACE_MIDDLES = 'a ado ave eri ela ia ido ina iro o ora una uli ymi ethe andi'.split(' ');
export const PLACE_ENDS = 'dor gard heim hold lyn mar mere more ria ron stead thal vale wick wyn zar'.split(' ');

/** Names in other scripts: two parts that fit each other. */
export const FOREIGN_NAMES: readonly {
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly space: string;
}[] = [
  {
    first: ['星空の', '古代の', '氷の', '失われた', '黄金の', '夜の'],
    last: ['飛行船', 'ドラゴン', '城', '森の物語', '剣', '図書館'],
    space: '',
  },
  {
    first: ['古代', '黑暗', '黄金', '冰雪', '失落的', '天空'],
    last: ['巨龙', '城堡', '飞船', '森林', '武器包', '地图合集'],
    space: '',
  },
  { first: ['Древний', 'Тёмный', 'Золотой', 'Ледяной'], last: ['дракон', 'замок', 'корабль', 'лес'], space: ' ' },
  { first: ['고대', '어둠의', '황금', '하늘'], last: ['드래곤', '성', '비행선', '숲'], space: ' ' },
  { first: ['Αρχαίος', 'Χρυσός', 'Σκοτεινός'], last: ['δράκος', 'πύργος', 'κήπος'], space: ' ' },
  { first: ['التنين', 'القلعة', 'السفينة'], last: ['الذهبية', 'القديمة', 'الضائعة'], space: ' ' },
  { first: ['Épée', 'Château', 'Forêt', 'Île'], last: ['oubliée', 'dorée', 'enchantée', 'brûlée'], space: ' ' },
  { first: ['Größere', 'Königliche', 'Verlorene'], last: ['Burgen', 'Wälder', 'Höhlen', 'Schlösser'], space: ' ' },
];

export const SENTENCES = [
  'Adds new places to explore, each with its own story.',
  'Replaces the textures in high resolution, at hardly any cost.',
  'Works with existing saves and with most other mods.',
  'Made over three winters by a small group of friends.',
  'Every sound was recorded anew, from doors to distant thunder.',
  'Comes with settings for everything, in the menu of the game.',
  'Best with a controller, but keyboard and mouse are fine.',
  'Thanks to everyone who reported bugs in the first versions.',
] as const;

/** The summaries of translated mods. */
export const TRANSLATED: readonly { readonly language: Language; readonly summary: string; readonly prefix: string }[] =
  [
    { language: 'de', prefix: 'Neu: ', summary: 'Neue Orte, neue Klänge, und alles lässt sich einstellen.' },
    { language: 'fr', prefix: 'Nouveau : ', summary: 'De nouveaux lieux, de nouveaux sons, et tout se règle.' },
    { language: 'es', prefix: 'Nuevo: ', summary: 'Nuevos lugares, nuevos sonidos, y todo se puede ajustar.' },
    { language: 'ja', prefix: '新作 ', summary: '新しい場所、新しい音。すべて設定で変えられます。' },
    { language: 'zh-CN', prefix: '新作 ', summary: '新的地点，新的声音，一切皆可设置。' },
  ];

export const PAIRS = ['mode:solo', 'mode:team', 'engine:2', 'engine:3', 'seats:4', 'seats:8', 'season:winter'] as const;
