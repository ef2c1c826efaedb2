/** What players say about mods, and the replies to it. The numbers of speakers are positions in the list of players. */
export interface SampleThread {
  readonly by: number;
  readonly text: string;
  readonly replies: readonly { readonly by: number; readonly text: string }[];
}

export const THREADS: readonly SampleThread[] = [
  {
    by: 1,
    text: 'Two evenings with it and I cannot imagine going back. Thank you!',
    replies: [
      { by: 4, text: 'Same here. Does it work with an older save for you?' },
      { by: 1, text: 'Yes, mine is from version 1.1. I only had to load it once and save again.' },
    ],
  },
  {
    by: 3,
    text: 'とても気に入りました。次の更新も楽しみにしています！',
    replies: [{ by: 0, text: 'ありがとう! The next version comes with Japanese texts.' }],
  },
  {
    by: 2,
    text: 'Small thing: the sound is much louder than the rest of the game. Could it be a setting?',
    replies: [
      { by: 0, text: 'Good point, I have written it down for the next release.' },
      { by: 4, text: 'Until then: turning down “effects” by a third does it.' },
    ],
  },
  { by: 4, text: 'Runs at full speed on my Steam Deck. Well done.', replies: [] },
  {
    by: 0,
    text: 'Does anybody use this together with others that change the same files? In which order do you load them?',
    replies: [{ by: 2, text: 'This one last, everything else as the list suggests. No trouble so far.' }],
  },
  { by: 2, text: 'Très beau travail, surtout les couleurs.', replies: [] },
  {
    by: 4,
    text: 'It stopped loading after the last update of the game.',
    replies: [{ by: 1, text: 'Remove it, start the game once, and subscribe again. That worked for me.' }],
  },
  { by: 1, text: 'More of this, please. I would pay for a second part.', replies: [] },
];

export const GUIDE_THREAD: SampleThread = {
  by: 4,
  text: 'Followed it step by step and my first one is online. Thank you!',
  replies: [{ by: 0, text: 'Glad to hear it. Leave a link, so that I can try yours.' }],
};
