/**
 * A way in which programs print how far they are. Named groups of the pattern: `n` done so far, `total`, `percent`,
 * `kind` or `unit` what is counted, `label` whose progress it is, `eta` the time left.
 */
export type Shape = {
  /** A text without which the pattern cannot match: most lines are done with after looking for these. */
  readonly hint: string;
  readonly pattern: RegExp;
  readonly unit: string;
  /** Only on lines that a carriage return overwrites: on others it would be prose. */
  readonly overwrittenOnly?: boolean;
};

const COUNT = String.raw`(?<n>\d{1,15}(?:\.\d{1,6})?)`;
const TOTAL = String.raw`(?<total>\d{1,15}(?:\.\d{1,6})?)`;
const PERCENT = String.raw`(?<percent>\d{1,3}(?:\.\d{1,6})?) ?%`;

/** What programs count, singular. */
const KIND =
  "(?<kind>epoch|step|time ?step|timestep|stage|iteration|iter|batch|task|frame|file|job|sample|round|trial|fold|case|item|test|part|phase|chunk|block|row|record|image|increment|generation|slice|layer|pass|cycle)s?";
const DONE = "(?:done|complete|completed|finished|processed)";
const VERB =
  "(?:rendered|processed|completed|finished|done|wrote|written|read|loaded|downloaded|uploaded|copied|imported|exported|converted|solved|checked|processing|running|building|rendering|solving|loading|reading|writing|executing|testing)";

/** Where `k` and `M` are scales. */
const CASE_MATTERS = "";

/** Without a word for it, a fraction or a percentage is progress only where a bar stands beside it. */
const SHAPES: readonly Shape[] = [
  // tqdm: `load rows:  42%|████▏     | 84/200 [00:01<00:02, 64.2row/s, loss=0.1]`
  shape(
    "%|",
    "",
    String.raw`(?:(?<label>[^|]{1,80}?): *)? *\d{1,3}%\|[^|]*\| *(?<n>[\d.]+[kMGTP]?)/(?<total>[\d.]+[kMGTP]?) \[[\d:]+<(?<eta>[\d:]+|\?), *[\d.?]+[kMGTP]?(?<unit>[^\]/, ]{0,20}/[^\], ]{1,20})?[^\]]*\]?$`,
    CASE_MATTERS,
  ),
  // tqdm without a total: `12it [00:01, 9.50it/s]`
  shape(
    " [",
    "",
    String.raw`(?:(?<label>[^|]{1,80}?): )?(?<n>[\d.]+[kMGTP]?)(?<unit>[A-Za-z]{1,20}) \[\d+:\d\d(?::\d\d)?, +[\d.?]+ ?\S*\]$`,
    CASE_MATTERS,
  ),
  // rsync --info=progress2
  shape(
    "/s",
    "byte",
    String.raw` *(?<n>\d[\d,]{0,24}) +(?<percent>\d{1,3})% +[\d.]+[kMGTP]?B/s +(?<eta>\d+:\d\d:\d\d)(?: +\(xfr#\d+, to-chk=\d+/\d+\))?$`,
  ),
  shape("ir-chk=", "byte", String.raw` *(?<n>\d[\d,]{0,24}) +\d{1,3}% .* \(xfr#\d+, ir-chk=\d+/\d+\)$`),
  // git: `Receiving objects:  42% (420/1000), 1.2 MiB`
  shape("% (", "", String.raw`(?<label>[^:%]{1,60}): +\d{1,3}% \(${COUNT}/${TOTAL}\)`),
  // ninja, pytest-xdist, npm: `[3/40] cc a.o`
  shape("/", "task", String.raw` *\[ *${COUNT}/${TOTAL}\](?: |$)`),
  // Spark: `[Stage 3:=====>        (105 + 4) / 200]`
  shape("[Stage", "task", String.raw`\[(?<label>Stage \d+):[=> ]*\(${COUNT} \+ \d+\) / ${TOTAL}\]`),
  // Keras and cargo: a bar beside the fraction
  shape("/", "", String.raw` *${COUNT}/${TOTAL} +(?:\[[=>.#-]+ *\]|[━╸╺─]{3,})`),
  shape("] ", "", String.raw` *(?<label>[A-Z][a-z]{1,20}) \[[=> ]*\] ${COUNT}/${TOTAL}(?::|$)`),
  // pip: `━━━━━╸ 1.2/3.4 MB 5.6 MB/s eta 0:00:01`
  shape("━", "", String.raw` *[━╸╺─ ]{3,}${COUNT}/${TOTAL} (?<unit>[kMG]?i?B)\b(?:.* eta (?<eta>[\d:]+))?`),
  // meep: `Meep progress: 193.8/400.0 = 48.4% done in 4.0s, 4.3s to go`
  shape("%", "", String.raw`(?:[\w -]{1,40}: *)?${COUNT}/${TOTAL} = [\d.]+ ?% done\b`),
  // `Epoch 3/10`, `Step 5/12 : RUN make`, `increment 3 of 40`, `progress: 12/60`
  shape(
    "",
    "",
    String.raw`\W{0,3}${KIND}[ :#=]{1,4}${COUNT} ?(?:/| of | out of ) ?${TOTAL}(?=$|[\s:;,.)\]|-])`,
  ),
  shape("", "", String.raw`\W{0,3}progress[ :=]{1,4}${COUNT} ?(?:/| of | out of ) ?${TOTAL}(?=$|[\s:;,.(])`),
  // `Rendered 2048 of 76800 pixels (2%)`, `Processed 3/40 files`
  shape(
    "",
    "",
    String.raw`${VERB} (?:${KIND} )?${COUNT} ?(?:/| of | out of ) ?${TOTAL}(?: (?<unit>[A-Za-z]{2,20}))?(?=$|[\s:;,.(])`,
  ),
  // Snakemake: `3 of 40 steps (8%) done`
  shape(" of ", "", String.raw`${COUNT} of ${TOTAL} ${KIND}(?: \([\d.]+ ?%\))? ${DONE}\b`),
  // `[ 42%] Building C object`, `Info    : [ 40%] Meshing curve 5`
  shape("%]", "percent", String.raw`(?:[A-Za-z]{1,20} *: )?\[ *${PERCENT}\](?: |$)`),
  // getdp: ` 10%    : Pre-processing`
  shape("%", "percent", ` *${PERCENT} +: `),
  // FreeCAD: `(25 %)⇥⇥(50 %)⇥⇥` and then whatever the user prints
  shape("%)", "percent", String.raw`\s*(?:\( *\d{1,3} ?%\)\s+)*\( *${PERCENT}\)(?:\s|$)`),
  // `Progress: 42%`, `Current Progress: 12 % - Solving`, `Completed 40 %`
  shape("%", "percent", String.raw`\W{0,3}(?:[A-Za-z]{1,20} )?progress[ :=]{1,4}${PERCENT}(?=$|[\s:;,.(-])`),
  shape("%", "percent", String.raw`${VERB}[ :=]{1,4}${PERCENT}(?=$|[\s:;,.(])`),
  shape("%", "percent", String.raw` *${PERCENT} ${DONE}\b`),
  // bars: `[####    ] 42%`, `42% |###   |`, curl's `#####   42.0%`, wget's `x.iso 42%[===>   ]`
  shape("%", "percent", String.raw` *[[|(][=#>.*█▉▊▋▌▍▎▏░▒▓ -]{2,}[\])|] *${PERCENT}(?=$|[\s:;,.(])`),
  shape("%", "percent", String.raw` *${PERCENT} ?[[|][=#>.*+█▉▊▋▌▍▎▏░▒▓ -]{2,}[\]|]`),
  shape("%", "percent", `[#=]{1,200} *${PERCENT}$`),
  shape("%[", "percent", String.raw`\S{1,80} +${PERCENT}\[[=+]*>? *\]`),
  shape("%]", "percent", String.raw`\S{1,120} [.FEsxXp]{1,200} +\[ *${PERCENT}\]$`),
  {
    ...shape("%", "percent", String.raw`(?<label>[^\d%/]{0,60}?)${PERCENT}(?=$|[\s:;,.(|])`),
    overwrittenOnly: true,
  },
  {
    ...shape("/", "", String.raw`(?<label>[^\d%/.]{0,60}?)${COUNT}/${TOTAL}(?=$|[\s:;,(|])`),
    overwrittenOnly: true,
  },
  // ffmpeg, its -progress file, Blender
  shape("frame=", "frame", String.raw`frame= *${COUNT} fps= *[\d.]+ .*time=`),
  shape("frame=", "frame", `frame=${COUNT}$`),
  shape("Fra:", "frame", `Fra:${COUNT} Mem:`),
  // GROMACS: `step 400, remaining wall clock time:    12 s`, `Step=   12, Dmax= 1.2e-02 nm`
  shape(
    "step",
    "step",
    String.raw`(?:imb F.{0,20}% )?step ${COUNT},? (?:remaining wall clock time: +(?<eta>\d+) s|will finish )`,
  ),
  shape("Step=", "step", `Step= *${COUNT}, Dmax= `),
  // ngspice: simulated seconds
  {
    ...shape("Reference value", "second", String.raw` *Reference value : +(?<n>\S{1,30}) *$`),
    overwrittenOnly: true,
  },
  // `iteration 12: residual 1e-3`, `step: 5 t: 0.1`, `Iter.  3,  how = shrink`
  shape(
    "",
    "",
    String.raw`\W{0,3}(?<kind>step|iteration|iter|epoch|increment|cycle|generation|frame|batch)\.?[ :#=]{1,12}(?<n>\d{1,15})(?=$|[:,;] ?|\s+[A-Za-z_]\w{0,30} ?[:=])`,
  ),
];

/** The first shape that fits the line, and what it read. */
export function findShape(
  text: string,
  isOverwritten: boolean,
): { readonly shape: Shape; readonly groups: Readonly<Record<string, string | undefined>> } | null {
  for (const one of SHAPES) {
    if (one.overwrittenOnly === true && !isOverwritten) continue;
    if (!text.includes(one.hint)) continue;
    const groups = one.pattern.exec(text)?.groups;
    if (groups !== undefined) return { shape: one, groups };
  }
  return null;
}

function shape(hint: string, unit: string, source: string, flags = "i"): Shape {
  return { hint, unit, pattern: new RegExp(`^${source}`, flags) };
}
