/** The rule book of the stand-ins: what each provider demands, and where that can be read. */

interface Rule {
  /** The provider's demand, in one sentence. */
  says: string;
  source: string;
  /** True if users report it but no document of the provider mentions it. */
  unconfirmed?: true;
}

export type Rules = Readonly<Record<string, Rule>>;
