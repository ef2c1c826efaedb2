import { AGREEMENT_TYPES, type AgreementType } from './types.ts';

interface FirstVersion {
  readonly type: AgreementType;
  readonly name: string;
  readonly description: string;
}

/** The initial texts of a new site, deliberately minimal; operators replace them. */
export const FIRST_VERSIONS: readonly FirstVersion[] = [
  {
    type: AGREEMENT_TYPES.TERMS,
    name: 'Terms of Use',
    description: `<h2>Who offers this service</h2>
<p>This service is run by the people who operate this site. It holds content that players make for games, such as mods, and hands it to players of these games.</p>
<h2>Your account</h2>
<p>You are responsible for what is done with your account. Keep your access to it to yourself, and tell the operators when someone else uses it. You may close your account at any time.</p>
<h2>What you upload</h2>
<p>What you make stays yours. By uploading it you allow the service to store it, to adapt its format, and to hand it to players of the game it was made for. Upload only what you have the right to share. You can delete what you uploaded, unless others have acquired it.</p>
<h2>What is not allowed</h2>
<p>Do not upload or write what is against the law, harms the devices or the data of others, infringes their rights, harasses them, or discloses their personal data. Do not disturb the service or get around its limits.</p>
<h2>Moderation</h2>
<p>The operators and the teams of games may hide or remove content and restrict accounts that break these terms. You can report content, and ask the operators to review a decision about yours.</p>
<h2>Liability</h2>
<p>Content comes from its authors and is used at your own risk. The service is offered as it is, without a promise that it is always available. Rights that the law gives you remain untouched.</p>
<h2>Changes</h2>
<p>When these terms change, you are asked to agree again before the new version applies to you.</p>`,
  },
  {
    type: AGREEMENT_TYPES.PRIVACY,
    name: 'Privacy Policy',
    description: `<h2>What is stored about you</h2>
<p>Your account: display name, avatar, language, and the email address if you gave one. If you sign in through a platform, the ID, the display name and the avatar that it gives. What you do here: uploads, subscriptions, ratings, comments, reports, and what you have agreed to. For security: your network address and the time of requests, for a limited time.</p>
<h2>What it is used for</h2>
<p>To provide the service, to keep it secure, to count downloads, and to moderate content. It is neither sold nor used for advertising.</p>
<h2>Who sees it</h2>
<p>Your display name, your avatar and what you publish are public. The teams of games see what they need to moderate. Others get nothing unless the law demands it.</p>
<h2>Your rights</h2>
<p>You may see, correct, export and delete what is stored about you. Some of it is kept where the law, or the rights of others, require it. Contact the operators of this site for anything that you cannot do yourself.</p>`,
  },
  {
    type: AGREEMENT_TYPES.GAME,
    name: 'Game Terms',
    description: `<h2>Who may add a game</h2>
<p>You may add a game if you own it, or act for those who do. The operators of this site review a game before everyone sees it.</p>
<h2>What you are responsible for</h2>
<p>The team of a game decides which content it takes, moderates it, answers reports within reasonable time, and keeps its API key and the secrets of its clients to itself.</p>
<h2>Content of players</h2>
<p>Content made by players belongs to them. You may show and use it within your game and to present it. Tell players in your game what content is allowed.</p>
<h2>Ending</h2>
<p>A game with content is not deleted before its content is. The operators may withdraw a game that breaks these terms.</p>`,
  },
  {
    type: AGREEMENT_TYPES.MONETIZATION,
    name: 'Monetization Terms',
    description: `<p>Nothing is sold on this site unless a game says so. Where a game offers content for money, the price is shown before you buy, and what you bought belongs to your account. Creators who sell agree on their share with the game beforehand.</p>`,
  },
  {
    type: AGREEMENT_TYPES.REFUND,
    name: 'Refund Policy',
    description: `<p>If something that you bought here does not work or is not what was described, ask the operators of this site for a refund. Rights of withdrawal and warranty that the law gives you remain untouched. A purchase through the store of a platform is refunded by that store.</p>`,
  },
];
