import { z } from 'zod';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise, type TextName } from '../../platform/localisation/texts.ts';
import type { FileTypes } from './file-types.ts';
import { FINDING, type FindingRow } from './findings.ts';

export const FindingObject = z
  .object({
    id: Id,
    mod_id: Id,
    modfile_id: Id,
    kind: Integer.meta({
      description: '0 reported file type, 1 threat, 2 potentially harmful, 3 not scanned',
    }),
    path: z.string().meta({
      description: 'The path in the archive, with nested archives as folders; empty for the whole archive',
    }),
    detail: z.string().meta({
      description: 'The extension, the name of the threat, or what the scanner said about a file that it did not scan',
    }),
    message: z
      .string()
      .meta({ description: 'Why it was not scanned, in the language of the request; empty for other findings' }),
    date_added: Timestamp,
  })
  .meta({ id: 'ModfileFinding' });

export const toFinding = (
  { game_id: _, ...finding }: FindingRow,
  language: Language,
): z.input<typeof FindingObject> => ({
  ...finding,
  message: finding.kind === FINDING.UNSCANNED ? localise(whyUnscanned(finding.detail), language) : '',
});

function whyUnscanned(detail: string): TextName {
  if (detail === '' || detail.startsWith('Heuristics.Limits.Exceeded')) return 'finding_too_large';
  return detail.startsWith('Heuristics.Encrypted') ? 'finding_encrypted' : 'finding_unscanned';
}

export const FileTypesObject = z
  .object({ refused: z.array(z.string()), reported: z.array(z.string()) })
  .meta({ id: 'GameFileTypes' });

export const toFileTypes = ({ refused, reported }: FileTypes): z.input<typeof FileTypesObject> => ({
  refused: [...refused],
  reported: [...reported],
});

const EXTENSIONS_MAX = 200;

/** As people write them: `exe`, `.EXE`. An empty list comes as one with an empty entry. */
const Extensions = z
  .array(
    z.union([
      z.literal(''),
      z
        .string()
        .trim()
        .toLowerCase()
        .regex(/^\.?[\p{L}\p{N}_+~-]{1,32}$/u),
    ]),
  )
  .max(EXTENSIONS_MAX)
  .transform((names) =>
    [...new Set(names.filter((name) => name !== '').map((name) => name.replace(/^\./, '')))].sort(),
  );

export const FileTypesBody = z
  .object({
    refused: Extensions.meta({ description: 'Extensions that no file in an archive may have.' }),
    reported: Extensions.meta({ description: 'Extensions that are reported to the game’s team as findings.' }),
  })
  .partial();
