/* The word tables, and the sentences built from them. */
#include "sim/world/words.h"

#include "base/attr.h"
#include "sim/util/hash.h"
#include "sim/util/text_out.h"

#define S STR_INIT

static const struct str terms[] = {
    S("receptor"),     S("genome"),       S("catalyst"),  S("polymer"),     S("lattice"),
    S("mitochondria"), S("neuron"),       S("cohort"),    S("sediment"),    S("aerosol"),
    S("plasma"),       S("antibody"),     S("enzyme"),    S("photon"),      S("manifold"),
    S("estimator"),    S("trial"),        S("biomarker"), S("phenotype"),   S("glacier"),
    S("membrane"),     S("nanoparticle"), S("corpus"),    S("transformer"), S("turbine"),
    S("vaccine"),      S("tumour"),       S("ribosome"),  S("electrode"),   S("monsoon"),
    S("soil"),         S("reef"),         S("supernova"), S("qubit"),       S("scaffold"),
    S("microbiome"),   S("stroke"),       S("insulin"),   S("graph"),       S("policy"),
};

static const struct str adjectives[] = {
    S("adaptive"),   S("chronic"),    S("randomised"), S("quantum"),      S("longitudinal"),
    S("stochastic"), S("marine"),     S("cardiac"),    S("multi-centre"), S("hierarchical"),
    S("resistant"),  S("low-cost"),   S("pediatric"),  S("deep"),         S("early-onset"),
    S("sparse"),     S("mesoporous"), S("urban"),      S("synthetic"),    S("in vivo"),
};

/* Text that breaks parsers: markup, entities, combining marks, right-to-left scripts, characters
 * outside the basic plane. */
static const struct str strange[] = {
    S("\u03b2-catenin"),
    S("H<sub>2</sub>O"),
    S("<i>Escherichia coli</i> K-12"),
    S("p &lt; 0.05 & n = 12"),
    S("\u201cquoted\u201d \u2014 and \"straight\""),
    S("\u673a\u5668\u5b66\u4e60\u65b9\u6cd5"),
    S("\u30bf\u30f3\u30d1\u30af\u8cea\u306e\u69cb\u9020"),
    S("\ub370\uc774\ud130 \ubd84\uc11d"),
    S("\u0627\u0644\u0630\u0643\u0627\u0621 "
      "\u0627\u0644\u0627\u0635\u0637\u0646\u0627\u0639\u064a"),
    S("\u05dc\u05de\u05d9\u05d3\u05ea \u05de\u05db\u05d5\u05e0\u05d4"),
    S("e\u0301tude d\u2019un mode\u0300le"),
    S("\U0001d6fc-synuclein"),
    S("\U0001f9ec sequencing"),
    S("10\u2009\u00b5m \u00b1 2\u00a0\u00b0C"),
    S("C:\\data\\run\t7"),
    S("a/b and </script>"),
    S("\u0928\u0947\u091f\u0935\u0930\u094d\u0915"),
    S("za\u017c\u00f3\u0142\u0107 g\u0119\u015bl\u0105"),
    S("\u0421\u0438\u043d\u0442\u0435\u0437 \u0438 "
      "\u0441\u0432\u043e\u0439\u0441\u0442\u0432\u0430"),
    S("zero\u200bwidth\ufeff"),
};

static const struct str givens[] = {
    S("Maria"),  S("Wei"),        S("Anna"),  S("Jos\u00e9"),    S("Fatima"),
    S("John"),   S("Chlo\u00eb"), S("Yuki"),  S("O\u2019Brien"), S("Sofia"),
    S("Ahmed"),  S("Ingrid"),     S("Piotr"), S("\u0218tefan"),  S("Thu\u1ef3"),
    S("Daniel"), S("Priya"),      S("Lars"),  S("\u674e\u660e"), S("Rachel"),
};

static const struct str families[] = {
    S("Garc\u00eda M\u00e1rquez"),
    S("Wang"),
    S("M\u00fcller"),
    S("Nguy\u1ec5n"),
    S("O'Neill"),
    S("Smith"),
    S("\u0141ukasik"),
    S("Tanaka"),
    S("van der Berg"),
    S("Ivanova"),
    S("Al-Sayed"),
    S("Sm\u00f8rgrav"),
    S("Chen"),
    S("Kim"),
    S("D\u00edaz"),
    S("Haas-Kogan"),
    S("Okafor"),
    S("Singh"),
    S("\u738b"),
    S("Be\u0301rard"),
};

static const struct str initials[] = {
    S("M"), S("W"), S("AB"), S("J"), S("F"), S("JD"), S("C"), S("YT"), S("O"), S("S"),
};

static const struct str places[] = {
    S("Department of Infectious Diseases, University of Melbourne, Parkville, VIC, Australia."),
    S("Institut f\u00fcr Informatik, Universit\u00e4t Z\u00fcrich, Z\u00fcrich, Switzerland"),
    S("School of Chemistry & Biochemistry, Georgia Institute of Technology, Atlanta, GA, USA"),
    S("\u6e05\u534e\u5927\u5b66\u8ba1\u7b97\u673a\u7cfb, Tsinghua University, Beijing, China"),
    S("Instituto de F\u00edsica, Universidade de S\u00e3o Paulo, S\u00e3o Paulo, SP, Brazil"),
    S("National Centre for Biological Sciences, TIFR, Bengaluru 560065, India"),
    S("Kyoto University, Kyoto, Japan"),
    S("Dana-Farber Cancer Institute, Brigham and Women's Hospital, Boston, MA 02115, USA"),
    S("Universit\u00e9 Paris-Saclay, INRAE, AgroParisTech, Gif-sur-Yvette, France"),
    S("Makerere University College of Health Sciences, Kampala, Uganda"),
    S("\u041c\u043e\u0441\u043a\u043e\u0432\u0441\u043a\u0438\u0439 "
      "\u0433\u043e\u0441\u0443\u0434\u0430\u0440\u0441\u0442\u0432\u0435\u043d\u043d\u044b\u0439 "
      "\u0443\u043d\u0438\u0432\u0435\u0440\u0441\u0438\u0442\u0435\u0442, Moscow"),
    S("Hebei University of Science and Technology, School of Information Science and Engineering"),
};

static const struct str countries[] = {
    S("AU"), S("CH"), S("US"), S("CN"), S("BR"), S("IN"), S("JP"), S("DE"), S("FR"), S("UG"),
};

static const struct journal journals[] = {
    { S("Nature communications"), S("Nat Commun"), S("Springer Science and Business Media LLC"),
      S("2041-1723"), S("2041-1723"), S("101528555"), S("297") },
    { S("The Lancet. Infectious diseases"), S("Lancet Infect Dis"), S("Elsevier BV"),
      S("1473-3099"), S("1474-4457"), S("101130150"), S("78") },
    { S("PLOS ONE"), S("PLoS One"), S("Public Library of Science (PLoS)"), S("1932-6203"),
      S("1932-6203"), S("101285081"), S("340") },
    { S("Trends in genetics : TIG"), S("Trends Genet"), S("Elsevier BV"), S("0168-9525"),
      S("1362-4555"), S("8507085"), S("78") },
    { S("Proceedings of the National Academy of Sciences of the United States of America"),
      S("Proc Natl Acad Sci U S A"), S("Proceedings of the National Academy of Sciences"),
      S("0027-8424"), S("1091-6490"), S("7505876"), S("341") },
    { S("Zeitschrift f\u00fcr Geb\u00e4udeforschung & Bautechnik"), S("Z Geb\u00e4udeforsch"),
      S("Wiley"), S("0932-8351"), S("1437-0999"), S("9875011"), S("311") },
    { S("Revista Espa\u00f1ola de Salud P\u00fablica"), S("Rev Esp Salud Publica"),
      S("Ministerio de Sanidad"), S("1135-5727"), S("2173-9110"), S("9600212"), S("4374") },
    { S("Journal of Electronic Imaging"), S("J. Electron. Imag."), S("SPIE-Intl Soc Optical Eng"),
      S("1017-9909"), S("1560-229X"), S("9208671"), S("189") },
};

#undef S

#define PICK(table, hash) (table)[hash_below((hash), (uint32_t)ARRAY_LEN(table))]

struct str words_term(uint64_t hash)
{
    return PICK(terms, hash);
}

struct str words_keyword(uint64_t hash)
{
    return PICK(adjectives, hash);
}

struct str words_place(uint64_t hash)
{
    return PICK(places, hash);
}

struct str words_country(uint64_t hash)
{
    return PICK(countries, hash);
}

struct person words_person(uint64_t hash)
{
    return (struct person){ .given = PICK(givens, hash),
                            .family = PICK(families, hash_mix(hash + 1)),
                            .initials = PICK(initials, hash_mix(hash + 2)) };
}

struct journal words_journal(uint64_t hash)
{
    return PICK(journals, hash);
}

static uint64_t next(uint64_t *hash)
{
    *hash += UINT64_C(0x9e3779b97f4a7c15);
    return hash_mix(*hash);
}

static void add_words(struct buf *out, uint64_t *hash)
{
    buf_add(out, PICK(adjectives, next(hash)));
    buf_add_char(out, ' ');
    buf_add(out, PICK(terms, next(hash)));
}

void words_title(struct buf *out, uint64_t hash)
{
    static const struct str openings[] = {
        STR_INIT("Effects of the "), STR_INIT("A systematic review of "),
        STR_INIT("Towards an "),     STR_INIT("Measuring the "),
        STR_INIT("On the "),         STR_INIT("Department of Error: "),
    };

    buf_add(out, PICK(openings, next(&hash)));
    add_words(out, &hash);
    buf_add(out, STR(" in "));
    add_words(out, &hash);
    if (next(&hash) % 3 == 0) {
        buf_add(out, STR(": "));
        buf_add(out, PICK(strange, next(&hash)));
    }
    if (next(&hash) % 2 == 0) {
        buf_add(out, STR(" and its "));
        add_words(out, &hash);
    }
}

void words_sentence(struct buf *out, uint64_t hash)
{
    static const struct str openings[] = {
        STR_INIT("We show that the "),          STR_INIT("Here, the "),
        STR_INIT("In contrast, each "),         STR_INIT("Our results suggest that the "),
        STR_INIT("After adjustment, the "),     STR_INIT("It remains unclear whether the "),
        STR_INIT("Using a new approach, the "), STR_INIT("Taken together, the "),
    };
    static const struct str verbs[] = {
        STR_INIT(" increases "),   STR_INIT(" was associated with "), STR_INIT(" depends on "),
        STR_INIT(" inhibits "),    STR_INIT(" is bounded by "),       STR_INIT(" predicts "),
        STR_INIT(" outperforms "), STR_INIT(" co-occurs with "),
    };

    buf_add(out, PICK(openings, next(&hash)));
    add_words(out, &hash);
    buf_add(out, PICK(verbs, next(&hash)));
    add_words(out, &hash);
    if (next(&hash) % 4 == 0) {
        buf_add(out, STR(" ("));
        buf_add(out, PICK(strange, next(&hash)));
        buf_add_char(out, ')');
    }
    buf_add(out, STR(", with a mean of "));
    text_add_number(out, next(&hash) % 1000);
    buf_add_char(out, '.');
    text_add_padded(out, next(&hash) % 100, 2);
    buf_add_char(out, '.');
}

void words_orcid(struct buf *out, uint64_t hash)
{
    uint64_t number = next(&hash) % UINT64_C(100000000);
    unsigned total = 0;
    char digits[16] = "0000000";

    for (int i = 14; i >= 7; i--, number /= 10)
        digits[i] = (char)('0' + number % 10);
    for (int i = 0; i < 15; i++)
        total = (total + (unsigned)(digits[i] - '0')) * 2;
    total = (12 - total % 11) % 11; /* ISO 7064 11,2 */
    digits[15] = total == 10 ? 'X' : (char)('0' + total);
    for (size_t i = 0; i < 16; i += 4) {
        if (i > 0)
            buf_add_char(out, '-');
        buf_add(out, (struct str){ digits + i, 4 });
    }
}
