#!/usr/bin/env python3
"""Writes core/text/src/expand/*_1_libpostal.tsv: abbreviations of the dictionaries of libpostal, without those that mean something else as well.

Run with a checkout of https://github.com/openvenues/libpostal (MIT License) at commit 4c030d8ff2fcf59c26510f68823c28a2346034d4:
    python3 tests/data/abbreviations.py path/to/libpostal

Left out are abbreviations of several words or of one letter, those that libpostal has for two different words of a language, what the project's own
files of that language say already, and those named below: they are words, names, codes of states or other abbreviations, too.
"""
import pathlib
import re
import sys
import unicodedata

HERE = pathlib.Path(__file__).resolve().parents[2] / "core/text/src/expand"
# The kind of entry that a file of libpostal gives, by language.
KINDS = {
    "street_types": {"en": "street", "de": "word", "es": "lead", "fr": "lead", "it": "lead"},
    "company_types": dict.fromkeys(("en", "de", "es", "fr", "it"), "word"),
    "personal_titles": dict.fromkeys(("en", "de", "es", "fr", "it"), "title"),
}
NOT = {
    "en": """al id la va md de in me ms mi pa ma il ok or hi nc ne nd sd nh nv ak az ar ga as ie wa wi wv tx ut vt mn mo oh ri sc tn vi
        art back bay cause con conc cul down ent follow form front gren head inter lit line look lot lynn mall med min out outlet over part pass pat
        plan port prom quad range rest ring rise run space trees union way no num number gen hon sec rep reps sen sens doc docs sir
        misses miss mister misses pres tsar mp mps ob sr jr ss san dame na soc fund trust bank back lees gp nt lc nl lp sp se cc psc psu pc prc pse gra ran ra res ups
        app beech kg pm rh chi thi shi com comm rang fit plat tri tun gl dn th ro ps pls pkt spc thor pur imp hd ce ci ex appr sh wyn clr ids pla ih bri hrd cls cm cs bps bk profs archbishop nr gn """,
    "de": "al bd ch bf br brucke bruecke g gr h ob pl qu stg u w ws d fh str strasse e fc fri hr fr dir ing grosser rww obgm burgermeister",
    "es": """al art ac ak ap ar auto ave bar bl br ca cab cam cap card cer ch ci cm cn cons cr ct cv cons d dg ext g gale
        inf int jf lic lica min my mg mayor ob p par pas pe pi pl pr ps rt rey san se send ser sect sol tr tv ud vd ver via vista vist
        sm sp sg sv cs cp mq ns dna dona don me rin mes alg fr cant carr circ arqa bda bajada pueblo puebla camping costera sab sad sae sai sal sas sca scl
        sc se cf fc ep call trans prol ret parti diag pant comp may dip adm alt pres cac golf call brg bg inspector empresa emb emp empr int
        pto spa snc srl saa rma rdo rampa boulevard abd ing
        secreta secreto secta secto consejo not ra da col presa presida pta loc proc sold peat cj cq ltda st gn tn jz dq alf tras cint infa safi scel fto""",
    "fr": """al ac art arc arts au aut ave bar ber bers but butte camp car cau cale care carre cav che ch champ clos col cor cors cote cour
        dig ecl enc env fos foss foyr gal gals gr grim ham imp mal mat met mis mise mte nte pas pass pat peri pim pla plan plage plat ple pn pointe
        pont port pour pr pre prof prv pte rac raid rang rem rn rpt rt rts rocd sem sen sens sent ter terr tra trn trt val ven via voi vte am cam
        capt cdr cel chs cht gen gie lt me ms mm mgen ml mr mrs m nd pere profe rev rp rpj sa sai sal sar sas sc scs sca se sep slt ss va vam ei ri fcp gp
        gps gpe gpes gpt res ress rotonde rtd rle rles chez chz pae pta major general bois deg degs esp esps promenade baron comte group prc prcs groupe
        saog saoc bres bre care cares arcade sente rampe rpe frere madame asbl ches trs carf cloi bcle
        prom pres prt gri rs comte carr ach leve ctr ech vallee vois gch remp scop and""",
    "it": """ac alt alto art aut arco arch bar biv br cal cap card cas cat cav co col com comm con cons conte cost cta cup dis don donna
        egr fc fon for fondo forca foro gal gen gra gie grd grad ing int lga lno lre lun lug mar mari mag magg min mlo mons mte no on
        pas per ple plg por porta pre pres prete prof pro prt pta pte qua rampa re reg rev ri rii rio ripa riv riva sal sc scala sca scali sci scc sce sdr sen serg
        ses sm snu sp spa spd spr sps sr ss st std stc stl stp stt sto sta sts sud sup sv sva sve sdl ten terra tra tnu tpr tvc tra val var varco vc vs vp vv vla vlp vil villa vct vcl vcp
        vcn vcv via vic vico viva voc vol volta vpr vpv vta vve vvc vnu vcm zin zona vzo cr crv contra cpl clt cnl cnt cca bgt alz ang lge lgd lgt llg lgv pss pzt ptl rpa
        rta rtb rtd rva sacca scl spalto cna cle cte cla coop comp cda cra ctn cso arc ag agl frz siga signa sten sapa sagl scrl sigg dr rm rp galla galle bne cal scca sgr
        and ministro zi rit svc""",
}


def plain(text):
    # as the normal form writes it
    for a, b in zip("äöüß", ("ae", "oe", "ue", "ss")):
        text = text.replace(a, b) if sys_language == "de" else text.replace(a, b[0] if a != "ß" else b)
    text = unicodedata.normalize("NFD", text.lower())
    return " ".join(re.sub(r"[^a-z0-9 ]", "", text.replace("-", " ").replace("’", "")).split())


for sys_language in ("de", "en", "es", "fr", "it"):
    own = set()
    for file in HERE.glob(f"{sys_language}_1*.tsv"):
        if "libpostal" not in file.name:
            own |= {line.split("\t")[1] for line in file.read_text().splitlines() if not line.startswith("stop\t")}
    left_out = set(NOT[sys_language].split())
    found, words = {}, set()
    for name, kinds in KINDS.items():
        text = (pathlib.Path(sys.argv[1]) / f"resources/dictionaries/{sys_language}/{name}.txt").read_text()
        for line in text.splitlines():
            long, *shorts = [field.strip() for field in line.split("|")]
            long = plain(long)
            words |= set(long.split())
            for short in shorts:
                raw = short.rstrip(".").replace("°", "º")
                if "ª" in raw or "º" in raw:
                    if len(raw) > 1 and raw[0] not in "ªº" and " " not in raw:
                        found.setdefault(("raw", raw), set()).add(long)
                    continue
                short = plain(short.replace(".", ""))
                if " " not in short and len(short) > 1:
                    found.setdefault((kinds[sys_language], short), set()).add(long)
    meanings = {}
    for (kind, short), longs in found.items():
        meanings.setdefault(short, set()).update(longs)
    lines = []
    for (kind, short), longs in sorted(found.items()):
        if len(meanings[short]) > 1 or short in left_out or short in own or short in words or plain(next(iter(longs))) == short:
            continue
        if kind == "word" and len(short) < 3 and sys_language != "de":
            continue
        lines.append("\t".join((kind, short, next(iter(longs)))))
    # what stands for words that hold an abbreviation themselves would be written out twice
    shorts = {line.split("\t")[1] for line in lines} | own
    lines = [line for line in lines if not set(line.split("\t")[2].split()) & shorts]
    (HERE / f"{sys_language}_1_libpostal.tsv").write_text("".join(line + "\n" for line in lines))
    print(sys_language, len(lines))
