type Cell = string | number;

/** Quotes what would break a row, and what a spreadsheet would run as a formula. */
function written(cell: Cell): string {
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as a download. */
export function csvAnswer(filename: string, rows: readonly (readonly Cell[])[]): Response {
  const text = rows.map((row) => `${row.map(written).join(',')}\r\n`).join('');
  return new Response(text, {
    headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${filename}"` },
  });
}
